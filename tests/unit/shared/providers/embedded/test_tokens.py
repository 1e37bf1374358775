from hypothesis import given
from hypothesis import strategies as st

from shared.providers.embedded.tokens import query_terms, stem, tokens


def test_chinese_is_cut_into_words_and_their_parts() -> None:
    assert tokens("数据中心应急预案") == ["数据", "中心", "数据中心", "应急", "预案"]


def test_identifiers_stay_whole_and_are_also_given_in_parts() -> None:
    assert tokens("E-4312") == ["e-4312", "e", "4312"]
    assert tokens("client.retry_max") == ["client.retry_max", "client", "retry", "max"]
    assert tokens("型号HBX-340的") == ["型号", "hbx-340", "hbx", "340", "的"]


def test_width_and_case_do_not_matter() -> None:
    assert tokens("ＨＢＸ－３４０") == tokens("hbx-340") == ["hbx-340", "hbx", "340"]


def test_plurals_meet_their_singular() -> None:
    assert [stem(word) for word in ("policies", "boxes", "classes", "logs", "class", "bus", "analysis", "gas")] == [
        "policy",
        "box",
        "class",
        "log",
        "class",
        "bus",
        "analysis",
        "gas",
    ]


def test_a_question_is_about_its_words_without_the_little_ones() -> None:
    assert query_terms("How long are web server logs kept?") == ["long", "web", "server", "log", "kept"]
    assert query_terms("病假工资怎么发") == ["病假", "工资", "发"]


def test_a_question_of_little_words_alone_is_about_those() -> None:
    assert query_terms("what is it") == ["what", "is", "it"]


@given(st.text())
def test_tokens_hold_no_space_and_no_quote(text: str) -> None:
    assert all(token and not set(token) & set(' "\n') and token == token.strip() for token in tokens(text))
