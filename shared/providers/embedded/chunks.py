"""A normalised text cut into the pieces that are searched and cited.

A chunk never crosses a heading: chunks cut across sections were measured to be the worst choice by far. Long
sections are cut at sentence ends with some overlap; sections without text of their own give none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared.contracts.enums import FailureReason
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.normalise import NormalisedText, Section

MAX_CHARACTERS = 800
OVERLAP = 100
RECORDS_CHARACTERS = 200
"""Rows of a table are gathered up to this length: a row is a statement of its own, but a short one finds nothing."""

_BOUNDARY = re.compile(r"(?<=[。！？；])|(?<=[.!?;])(?=\s)|(?<=\n)")
_CLAUSE = re.compile(r"[\s,，、:：)）\]】]")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A place ``[start, end)`` in the normalised text, with its chapter path and its first and last page."""

    start: int
    end: int
    path: tuple[str, ...]
    page_start: int | None
    page_end: int | None


def cut_chunks(document: NormalisedText, *, max_chunks: int) -> list[Chunk]:
    """Cut a document; rejects one of more than `max_chunks`."""
    chunks: list[Chunk] = []
    # A document of headings alone is still worth finding.
    whole = Section(start=0, end=len(document.text), path=())
    for section in document.sections or (whole,):
        for start, end in _cut_section(document.text, section):
            pages = document.page_at(start), document.page_at(end - 1)
            chunks.append(Chunk(start=start, end=end, path=section.path, page_start=pages[0], page_end=pages[1]))
        if len(chunks) > max_chunks:
            raise DigestFailed(FailureReason.FILE_TOO_LARGE, f"more than {max_chunks} chunks")
    return chunks


def _cut_section(text: str, section: Section) -> Iterator[Span]:
    """Rows of a table are cut apart from the text around them and not repeated."""
    if not section.records:
        yield from cut_span(text, section.start, section.end)
        return
    yield from cut_span(text, section.start, section.records[0])
    ends = (*section.records[1:], section.end)
    opened = section.records[0]
    for start, end in zip(section.records, ends, strict=True):
        if end - opened > RECORDS_CHARACTERS and start > opened:
            yield from cut_span(text, opened, start)
            opened = start
    yield from cut_span(text, opened, section.end)


def cut_span(text: str, start: int, end: int, *, limit: int = MAX_CHARACTERS, overlap: int = OVERLAP) -> Iterator[Span]:
    """Cut ``text[start:end]`` into spans of at most `limit` without white space at their edges, in order."""
    segments = list(_segments(text, start, end, limit))
    first = 0
    while first < len(segments):
        last = first
        while last + 1 < len(segments) and segments[last + 1][1] - segments[first][0] <= limit:
            last += 1
        yield segments[first][0], segments[last][1]
        if last + 1 == len(segments):
            return
        following = last + 1
        # Never so far back that the next span would not reach beyond this one.
        while (
            following - 1 > first
            and segments[last][1] - segments[following - 1][0] <= overlap
            and segments[last + 1][1] - segments[following - 1][0] <= limit
        ):
            following -= 1
        first = following


def _segments(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """Sentences and lines without the white space around them; too long ones are cut at a clause, or anywhere."""
    cuts = [match.start() for match in _BOUNDARY.finditer(text, start, end) if start < match.start() < end]
    for left, right in zip((start, *cuts), (*cuts, end), strict=True):
        for first, last in _bounded(text, left, right, limit):
            piece = text[first:last]
            if not piece.isspace():
                yield first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip())


def _bounded(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    while end - start > limit:
        clauses = [match.end() for match in _CLAUSE.finditer(text, start + limit // 2, start + limit)]
        stop = clauses[-1] if clauses else _between_characters(text, start + limit)
        yield start, stop
        start = stop
    if end > start:
        yield start, end


def _between_characters(text: str, position: int) -> int:
    """Step back from between a character and its combining mark or joiner."""
    for candidate in range(position, position - 8, -1):
        if not re.match(r"[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]", text[candidate : candidate + 1]):
            return candidate
    return position
