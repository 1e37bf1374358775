"""Search in the index: what is allowed is found, and nothing else is."""

from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import IndexWriter
from tests.integration.engine.small_digests import vector
from tests.integration.engine.small_indexes import add, lexical


def test_written_content_is_found_by_words_and_by_vector(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    oil = add(
        writer, space, "oil", "The gearbox takes oil.", "Bearings take grease.", vectors=vector(120) + vector(0, 120)
    )

    found = reader.search([space], "grease", vector(100, 50), [oil], limit=10)

    assert [(hit.text, hit.start, hit.end, hit.path, hit.page_start) for hit in found.lexical] == [
        ("Bearings take grease.", 23, 44, ("Part 2",), 2)
    ]
    assert 0 < found.lexical[0].score < 1
    assert [hit.text for hit in found.vector] == ["The gearbox takes oil.", "Bearings take grease."]
    assert found.vector[0].score > found.vector[1].score > 0


def test_nothing_allowed_finds_nothing(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    add(writer, space, "a", "Words.")

    for allowed in ([], ["77"], ["not-ours"]):
        found = reader.search([space], "words", vector(100), allowed, limit=10)
        assert (found.lexical, found.vector) == ((), ())


def test_an_allowed_document_of_another_space_is_not_found(
    writer: IndexWriter, reader: IndexReader, space: str
) -> None:
    other = writer.create_space("two")
    native_id = add(writer, other, "a", "Words.")

    elsewhere = reader.search([space], "words", vector(100), [native_id], limit=10)
    both = reader.search([space, other], "words", vector(100), [native_id], limit=10)

    assert (elsewhere.lexical, elsewhere.vector) == ((), ())
    assert [hit.document for hit in both.lexical] == [hit.document for hit in both.vector] == [native_id]


def test_what_other_spaces_hold_changes_no_ranking(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    mine = [add(writer, space, f"{n}", text) for n, text in enumerate(["Oil pump.", "Oil filter.", "Water pump."])]
    before = reader.search([space], "oil pump", vector(100), mine, limit=10)

    other = writer.create_space("two")
    for number in range(30):
        add(writer, other, f"{number}", "Oil, oil and oil.")

    assert reader.search([space], "oil pump", vector(100), mine, limit=10) == before
    assert before.lexical[0].text == "Oil pump."


def test_a_chunk_that_covers_less_than_half_of_the_question_is_no_lexical_hit(
    writer: IndexWriter, reader: IndexReader, space: str
) -> None:
    native_id = add(writer, space, "a", "Pitch fault F-217.", "A fault.", "Another fault.", "One more fault.")

    assert lexical(reader, space, "fault F-217", native_id) == ["Pitch fault F-217."]


def test_the_limit_holds_for_each_list(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    native_id = add(writer, space, "a", *(f"Words number {number}." for number in range(20)))

    found = reader.search([space], "words", vector(100), [native_id], limit=7)

    assert (len(found.lexical), len(found.vector)) == (7, 7)
