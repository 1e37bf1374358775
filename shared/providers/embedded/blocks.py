"""What a parser yields: headings and paragraphs in reading order, each on its page where the format has pages."""

from collections.abc import Callable
from dataclasses import dataclass

PageReport = Callable[[int, int], None]
"""Told how many pages, slides or sheets are read, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of text that stands by itself.

    `level` is 0 for running text and 1 to 9 for a heading, 1 the outermost. `page` counts from 1 and is the page,
    slide or sheet. `is_record` marks a table row: rows are cut apart more finely than sentences of one paragraph.
    """

    text: str
    level: int = 0
    page: int | None = None
    is_record: bool = False

    @property
    def is_heading(self) -> bool:
        """Whether the block opens a section."""
        return self.level > 0


def heading(text: str, level: int, page: int | None = None) -> Block:
    """Build a heading; the level is held within 1 to 9 and white space inside the title becomes single spaces."""
    return Block(text=" ".join(text.split()), level=min(max(level, 1), 9), page=page)


def paragraph(text: str, page: int | None = None) -> Block:
    """Build a block of running text."""
    return Block(text=text.strip(), page=page)


def record(text: str, page: int | None = None) -> Block:
    """Build a block that is one row of a table."""
    return Block(text=text.strip(), page=page, is_record=True)
