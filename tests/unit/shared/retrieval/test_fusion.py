"""Rankings become evidence: fused by rank, each place once, neighbours joined, limits kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.enums import LocationPrecision
from shared.providers.ports import Passage, Place, Ranking
from shared.retrieval.fusion import Fused, fuse, select

TEXT = "".join(chr(0x4E00 + i % 500) for i in range(60_000))


def passage(
    document: str,
    start: int,
    end: int,
    *,
    path: tuple[str, ...] = ("A",),
    precision: LocationPrecision = LocationPrecision.EXACT_OFFSET,
    page: int | None = None,
) -> Passage:
    return Passage(
        native_document_id=document,
        place=Place(start=start, end=end),
        text=TEXT[start:end],
        score=0.5,
        chapter_path=path,
        page_start=page,
        page_end=page,
        precision=precision,
    )


def places(fused: list[Fused]) -> list[tuple[str, int, int]]:
    return [(f.passage.native_document_id, f.passage.place.start, f.passage.place.end) for f in fused]


def test_a_place_found_by_two_channels_comes_before_what_only_one_found() -> None:
    a, b, c = passage("a", 0, 10), passage("b", 0, 10), passage("c", 0, 10)
    fused = fuse([Ranking(channel="vector", passages=(a, b)), Ranking(channel="lexical", passages=(c, b))])
    assert [f.passage.native_document_id for f in fused] == ["b", "a", "c"]


def test_a_passage_that_is_first_everywhere_scores_one() -> None:
    a = passage("a", 0, 10)
    fused = fuse([Ranking(channel="vector", passages=(a,)), Ranking(channel="lexical", passages=(a,))])
    assert [f.score for f in fused] == [1.0]


def test_a_channel_that_found_nothing_takes_nothing_from_the_score() -> None:
    fused = fuse([Ranking(channel="vector", passages=(passage("a", 0, 10),)), Ranking(channel="lexical", passages=())])
    assert fused[0].score == pytest.approx(1.0)


def test_neighbours_that_overlap_become_one_place_with_the_exact_text() -> None:
    fused = [Fused(passage("a", 700, 1500, page=4), 0.9), Fused(passage("a", 0, 800, page=3), 0.5)]
    chosen = select(fused, 8)
    assert places(chosen) == [("a", 0, 1500)]
    assert chosen[0].passage.text == TEXT[0:1500]
    assert (chosen[0].passage.page_start, chosen[0].passage.page_end, chosen[0].score) == (3, 4, 0.9)


def test_a_third_passage_joins_two_that_did_not_touch() -> None:
    fused = [Fused(passage("a", 0, 500), 0.9), Fused(passage("a", 900, 1400), 0.8), Fused(passage("a", 450, 950), 0.7)]
    assert places(select(fused, 8)) == [("a", 0, 1400)]


@pytest.mark.parametrize(
    "other",
    [
        passage("b", 700, 1500),
        passage("a", 700, 1500, path=("B",)),
        passage("a", 700, 1500, precision=LocationPrecision.CHUNK_APPROXIMATE),
        passage("a", 801, 1500),
        passage("a", 700, 2600),
    ],
    ids=["another document", "another chapter", "no exact place", "a gap between", "too long together"],
)
def test_what_is_not_one_place_stays_two(other: Passage) -> None:
    assert len(select([Fused(passage("a", 0, 800), 0.9), Fused(other, 0.8)], 8)) == 2


def test_one_document_gets_at_most_four_hits() -> None:
    fused = [Fused(passage("a", i * 1000, i * 1000 + 100), 0.9 - i / 100) for i in range(6)]
    fused.append(Fused(passage("b", 0, 100), 0.1))
    assert [f.passage.native_document_id for f in select(fused, 8)] == ["a", "a", "a", "a", "b"]


spans = st.tuples(st.sampled_from("abc"), st.integers(0, 50_000), st.integers(1, 4_000))


@given(found=st.lists(spans, max_size=60), limit=st.integers(1, 8))
def test_the_contract_limits_hold_whatever_a_provider_returns(found: list[tuple[str, int, int]], limit: int) -> None:
    passages = tuple(passage(document, start, start + length) for document, start, length in found)
    chosen = select(fuse([Ranking(channel="vector", passages=passages)]), limit)
    documents = [f.passage.native_document_id for f in chosen]
    assert len(chosen) <= limit
    assert all(documents.count(document) <= 4 for document in documents)
    assert all(len(f.passage.text) <= 2500 for f in chosen)
    assert sum(len(f.passage.text) for f in chosen) <= 16_000
    assert all(0 <= f.score <= 1 for f in chosen)
    assert all(TEXT[f.passage.place.start :].startswith(f.passage.text) for f in chosen)
    assert bool(chosen) == bool(found)
