from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import heading, paragraph, record
from shared.providers.embedded.chunks import MAX_CHARACTERS, OVERLAP, Chunk, cut_chunks, cut_span
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.normalise import normalise

SENTENCE = "Ear protection is offered from 80 decibels and compulsory from 85. "


def pieces(text: str, limit: int = 100, overlap: int = 20) -> list[str]:
    return [text[start:end] for start, end in cut_span(text, 0, len(text), limit=limit, overlap=overlap)]


def test_a_short_section_is_one_chunk_with_its_path_and_pages() -> None:
    document = normalise([heading("Hearing", 1, 2), paragraph("One.", 2), paragraph("Two.", 3)], max_characters=1000)

    assert cut_chunks(document, max_chunks=10) == [
        Chunk(start=8, end=17, path=("Hearing",), page_start=2, page_end=3),
    ]


def test_headings_without_text_give_no_chunk_unless_there_is_nothing_else() -> None:
    with_text = normalise([heading("A", 1), heading("B", 2), paragraph("text")], max_characters=1000)
    only_headings = normalise([heading("A", 1), heading("B", 2)], max_characters=1000)

    assert [with_text.text[c.start : c.end] for c in cut_chunks(with_text, max_chunks=10)] == ["text"]
    assert [only_headings.text[c.start : c.end] for c in cut_chunks(only_headings, max_chunks=10)] == ["A\nB"]


def test_long_text_is_cut_at_sentence_ends_with_overlap() -> None:
    assert pieces("One is here. Two is longer than one. Three. Four ends it.", limit=40, overlap=10) == [
        "One is here. Two is longer than one.",
        "Three. Four ends it.",
    ]
    assert pieces("第一句话。第二句话。第三句话。", limit=10, overlap=5) == [
        "第一句话。第二句话。",
        "第二句话。第三句话。",
    ]


def test_a_sentence_beyond_the_limit_is_cut_at_a_clause_or_anywhere() -> None:
    assert pieces("a" * 12 + ", " + "b" * 12, limit=20, overlap=0) == ["a" * 12 + ",", "b" * 12]
    assert pieces("字" * 45, limit=20, overlap=0) == ["字" * 20, "字" * 20, "字" * 5]


def test_a_cut_never_parts_a_letter_from_its_accent() -> None:
    assert pieces("x" * 19 + "e\u0323" + "y" * 9, limit=20, overlap=0) == ["x" * 19, "e\u0323" + "y" * 9]


def test_white_space_at_the_end_gives_no_second_chunk_of_the_overlap() -> None:
    assert pieces("aaaaa. . ", limit=8, overlap=2) == ["aaaaa. ."]


def test_table_rows_are_gathered_up_to_a_size_and_never_repeated() -> None:
    rows = [f"Code: E-{number}; Meaning: {'m' * 70}" for number in range(3)]
    document = normalise([heading("Codes", 1), paragraph("Intro."), *map(record, rows)], max_characters=1000)

    assert [document.text[c.start : c.end] for c in cut_chunks(document, max_chunks=10)] == [
        "Intro.",
        f"{rows[0]}\n{rows[1]}",
        rows[2],
    ]


def test_too_many_chunks_are_refused() -> None:
    document = normalise([paragraph(SENTENCE * 100)], max_characters=100_000)

    with pytest.raises(DigestFailed) as failure:
        cut_chunks(document, max_chunks=3)

    assert failure.value.reason is FailureReason.FILE_TOO_LARGE


words = st.text(alphabet=st.sampled_from("ab字。！. \n,e\u0301𠀀"), max_size=400)


@given(words, st.integers(8, 60), st.integers(0, 30))
def test_any_text_is_covered_in_order_within_the_limit(text: str, limit: int, overlap: int) -> None:
    spans = list(cut_span(text, 0, len(text), limit=limit, overlap=min(overlap, limit // 2)))

    covered: set[int] = set()
    for start, end in spans:
        assert 0 < end - start <= limit
        assert text[start:end] == text[start:end].strip()
        covered.update(range(start, end))
    assert all(index in covered or char.isspace() for index, char in enumerate(text))
    assert all(before[0] < after[0] and before[1] < after[1] for before, after in pairwise(spans))


@given(st.lists(st.tuples(st.booleans(), words), max_size=8))
def test_no_chunk_crosses_a_heading(parts: list[tuple[bool, str]]) -> None:
    made = [heading(text, 1) if is_heading else paragraph(text) for is_heading, text in parts]
    try:
        document = normalise(made, max_characters=100_000)
    except DigestFailed:
        return

    sections = document.sections
    for chunk in cut_chunks(document, max_chunks=1000):
        assert chunk.end - chunk.start <= MAX_CHARACTERS
        inside = [section for section in sections if section.start <= chunk.start and chunk.end <= section.end]
        assert [section.path for section in inside] == [chunk.path] or not sections


def test_overlap_stays_within_its_bound() -> None:
    text = SENTENCE * 60
    spans = list(cut_span(text, 0, len(text)))

    assert len(spans) > 4
    assert all(0 < before[1] - after[0] <= OVERLAP for before, after in pairwise(spans))
