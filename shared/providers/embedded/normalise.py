"""Blocks to one normalised text, with maps from any place in it to its page and its chapter path.

The text is in Unicode normal form C; every offset, here and in the index, counts its code points. A citation's
place is two such offsets, so a change of these rules is a change of the index's schema version.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block
from shared.providers.embedded.failures import DigestFailed

_LINE_ENDS = re.compile(r"\r\n?|[\x85\u2028\u2029\f\v]")
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\ufeff\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_TRAILING = re.compile(r"[^\S\n]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The text below one heading, up to the next: `start` is behind the heading's own line. `path` is outermost first.

    `records` are the offsets at which rows of a table begin.
    """

    start: int
    end: int
    path: tuple[str, ...]
    records: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedText:
    """A document's text, its sections in order, and where each page begins as (offset, page)."""

    text: str
    sections: tuple[Section, ...]
    pages: tuple[tuple[int, int], ...]

    def page_at(self, offset: int) -> int | None:
        """The page that holds an offset; None where the format has no pages."""
        index = bisect_right(self.pages, offset, key=lambda mark: mark[0]) - 1
        return self.pages[index][1] if index >= 0 else None


def normalise(blocks: Iterable[Block], *, max_characters: int) -> NormalisedText:
    """Write the blocks one below the other; rejects what is empty and what grows beyond `max_characters`."""
    writer = _Writer(max_characters)
    for block in blocks:
        writer.write(block)
    return writer.close()


def clean(text: str) -> str:
    """Normal form C with one kind of line end and without control characters or broken surrogates."""
    text = _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))
    text = _BLANK_LINES.sub("\n\n", _TRAILING.sub("", _SURROGATE.sub("\ufffd", text)))
    return unicodedata.normalize("NFC", text.strip("\n"))


class _Writer:
    """Grows the text block by block and keeps the open section and the headings above it."""

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self._parts: list[str] = []
        self._length = 0
        self._pages: list[tuple[int, int]] = []
        self._sections: list[Section] = []
        self._headings: list[tuple[int, str]] = []
        self._start = 0
        self._records: list[int] = []

    def write(self, block: Block) -> None:
        text = clean(block.text)
        if not text.strip():
            return
        if block.page is not None and (not self._pages or self._pages[-1][1] != block.page):
            self._pages.append((self._length, block.page))
        if block.is_heading:
            self._close_section()
            self._headings = [above for above in self._headings if above[0] < block.level] + [(block.level, text)]
        elif block.is_record:
            self._records.append(self._length)
        self._parts.append(text + "\n")
        self._length += len(text) + 1
        if block.is_heading:
            self._start = self._length
        if self._length > self._max_characters:
            raise DigestFailed(FailureReason.FILE_TOO_LARGE, f"more than {self._max_characters} characters of text")

    def _close_section(self) -> None:
        if self._length > self._start:
            path = tuple(text for _, text in self._headings)
            section = Section(start=self._start, end=self._length, path=path, records=tuple(self._records))
            self._sections.append(section)
        self._records = []

    def close(self) -> NormalisedText:
        self._close_section()
        if not self._length:
            raise DigestFailed(FailureReason.NO_TEXT)
        return NormalisedText(text="".join(self._parts), sections=tuple(self._sections), pages=tuple(self._pages))
