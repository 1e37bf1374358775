import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, heading, paragraph, record
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.normalise import NormalisedText, Section, clean, normalise


def written(*blocks: Block) -> NormalisedText:
    return normalise(blocks, max_characters=10_000)


def test_sections_lie_between_headings_and_carry_the_headings_above() -> None:
    document = written(
        paragraph("front"), heading("Guide", 1), heading("Week", 2), paragraph("a"), heading("Pay", 2), paragraph("b")
    )

    assert document.text == "front\nGuide\nWeek\na\nPay\nb\n"
    assert [(document.text[s.start : s.end], s.path) for s in document.sections] == [
        ("front\n", ()),
        ("a\n", ("Guide", "Week")),
        ("b\n", ("Guide", "Pay")),
    ]


def test_a_heading_ends_all_of_its_own_level_and_below() -> None:
    document = written(heading("A", 1), heading("B", 3), heading("C", 2), paragraph("text"))

    assert document.sections == (Section(start=6, end=11, path=("A", "C")),)


def test_pages_begin_where_their_first_block_does() -> None:
    document = written(heading("A", 1, 1), paragraph("one", 1), paragraph("two", 3))

    assert document.pages == ((0, 1), (6, 3))
    assert [document.page_at(offset) for offset in (0, 5, 6, 9)] == [1, 1, 3, 3]


def test_a_format_without_pages_has_none() -> None:
    assert written(paragraph("text")).page_at(0) is None


def test_rows_of_a_table_are_marked_in_their_section() -> None:
    document = written(heading("T", 1), paragraph("p"), record("r1"), record("r2"))

    assert document.sections == (Section(start=2, end=10, path=("T",), records=(4, 7)),)


def test_offsets_count_code_points_of_the_composed_form() -> None:
    document = written(paragraph("Cafe\u0301 𠀀"), heading("next", 1), paragraph("x"))

    assert document.text == "Café 𠀀\nnext\nx\n"
    assert document.sections[1].start == 12


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("soft\u00adhyphen \ufeffmark\x00", "softhyphen mark"),
        ("broken \ud800 pair", "broken \ufffd pair"),
        ("trailing  \t\n\n\n\nblank", "trailing\n\nblank"),
    ],
)
def test_text_is_cleaned(raw: str, expected: str) -> None:
    assert clean(raw) == expected


def test_a_document_without_text_is_refused() -> None:
    with pytest.raises(DigestFailed) as failure:
        written(paragraph(" \u00ad "), paragraph("\n"))

    assert failure.value.reason is FailureReason.NO_TEXT


def test_a_text_beyond_the_limit_is_refused_before_it_is_whole() -> None:
    def endless() -> object:
        while True:
            yield paragraph("word " * 100)

    with pytest.raises(DigestFailed) as failure:
        normalise(endless(), max_characters=5_000)  # type: ignore[arg-type]

    assert failure.value.reason is FailureReason.FILE_TOO_LARGE


blocks = st.builds(Block, text=st.text(max_size=12), level=st.integers(0, 4), page=st.none() | st.integers(1, 9))


@given(st.lists(blocks, max_size=8))
def test_any_blocks_give_composed_text_with_sections_in_order(made: list[Block]) -> None:
    document = normalise([*made, paragraph("end")], max_characters=100_000)

    document.text.encode()
    assert unicodedata.is_normalized("NFC", document.text)
    bounds = [bound for section in document.sections for bound in (section.start, section.end)]
    assert bounds == sorted(bounds)
    assert all(section.start < section.end <= len(document.text) for section in document.sections)
