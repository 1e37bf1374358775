from shared.providers.embedded.index.keys import document_key, key_list


def test_a_native_id_that_the_index_did_not_give_names_nothing() -> None:
    assert document_key("4611686018427387903") == 4611686018427387903
    assert [document_key(foreign) for foreign in ("", "x", "-5", "1.5", "9" * 30, "ragflow-7")] == [-1] * 6


def test_a_list_of_ids_leaves_foreign_ones_out() -> None:
    assert key_list(["12", "3", "x", "12"]) == "[3,12]"
    assert key_list([]) == "[]"
