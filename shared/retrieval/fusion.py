"""From several rankings to one list of evidence: fused by rank, each place once, neighbours joined, limits kept."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shared.contracts.enums import LocationPrecision
from shared.contracts.retrieval import MAX_HIT_LENGTH, MAX_HITS_PER_DOCUMENT, MAX_TOTAL_LENGTH
from shared.providers.ports import Passage, Place, Ranking

RRF_K = 60
"""Reciprocal rank fusion's constant: how little the first ranks differ (Cormack, Clarke, Buettcher 2009)."""

_PlaceKey = tuple[str, int, int, str | None]


@dataclass(frozen=True, slots=True)
class Fused:
    """A passage with its fused score: 1 when it is first in every ranking."""

    passage: Passage
    score: float


def fuse(rankings: Sequence[Ranking]) -> list[Fused]:
    """Fuse by rank, never by score; the same place found twice counts once, with both its ranks."""
    best = sum(ranking.weight for ranking in rankings if ranking.passages) / (RRF_K + 1)
    scores: Counter[_PlaceKey] = Counter()
    passages: dict[_PlaceKey, Passage] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking.passages, start=1):
            key = _key(passage)
            passages.setdefault(key, passage)
            scores[key] += ranking.weight / (RRF_K + rank)  # type: ignore[assignment]
    order = sorted(scores, key=lambda key: (-scores[key], key[0], key[1], key[3] or ""))
    return [Fused(passages[key], min(1.0, scores[key] / best)) for key in order]


def select(fused: Iterable[Fused], limit: int) -> list[Fused]:
    """The best `limit` pieces of evidence within the contract's limits, neighbours joined into one."""
    chosen: list[Fused] = []
    for item in fused:
        joined = _join_with_neighbour(chosen, item)
        if joined is not None:
            chosen[joined[0]] = joined[1]
        elif len(chosen) < limit and _has_room(chosen, item.passage):
            chosen.append(item)
    return _within_total(_disjoint(chosen))


def _key(passage: Passage) -> _PlaceKey:
    place = passage.place
    return passage.native_document_id, place.start, place.end, place.chunk


def _has_room(chosen: Sequence[Fused], passage: Passage) -> bool:
    same = sum(1 for item in chosen if item.passage.native_document_id == passage.native_document_id)
    return same < MAX_HITS_PER_DOCUMENT


def _join_with_neighbour(chosen: Sequence[Fused], item: Fused) -> tuple[int, Fused] | None:
    """Where `item` overlaps or touches a passage already chosen, the two are one place with the better score."""
    for index, other in enumerate(chosen):
        first, second = sorted((other.passage, item.passage), key=lambda passage: passage.place.start)
        if _touch(first, second):
            passage = _joined(first, second)
            if len(passage.text) <= MAX_HIT_LENGTH:
                return index, Fused(passage, max(other.score, item.score))
    return None


def _touch(first: Passage, second: Passage) -> bool:
    return (
        first.native_document_id == second.native_document_id
        and first.precision is second.precision is LocationPrecision.EXACT_OFFSET
        and first.chapter_path == second.chapter_path
        and second.place.start <= first.place.end
    )


def _joined(first: Passage, second: Passage) -> Passage:
    end = max(first.place.end, second.place.end)
    tail = second.text[first.place.end - second.place.start :] if second.place.end > first.place.end else ""
    pages = [page for page in (first.page_end, second.page_end) if page is not None]
    return replace(
        first,
        place=Place(start=first.place.start, end=end),
        text=first.text + tail,
        page_end=max(pages) if pages else None,
    )


def _disjoint(chosen: Sequence[Fused]) -> list[Fused]:
    """Joining one pair can make two others touch: join until nothing changes."""
    result: list[Fused] = []
    for item in chosen:
        joined = _join_with_neighbour(result, item)
        if joined is None:
            result.append(item)
        else:
            result[joined[0]] = joined[1]
    return result if len(result) == len(chosen) else _disjoint(result)


def _within_total(chosen: Iterable[Fused]) -> list[Fused]:
    """Cut each text at the limit of one hit, and stop before the limit of all."""
    kept: list[Fused] = []
    total = 0
    for item in chosen:
        passage = item.passage
        if len(passage.text) > MAX_HIT_LENGTH:
            passage = replace(passage, text=passage.text[:MAX_HIT_LENGTH])
        if total + len(passage.text) > MAX_TOTAL_LENGTH:
            break
        total += len(passage.text)
        kept.append(replace(item, passage=passage))
    return kept
