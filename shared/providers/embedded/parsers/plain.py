"""Plain text: paragraphs between blank lines, headings only where they can hardly be anything else."""

import re
from collections.abc import Iterator
from pathlib import Path

from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph
from shared.providers.embedded.parsers.encodings import read_text

_BLANK_LINES = re.compile(r"\n[ \t\u3000]*(?:\n[ \t\u3000]*)+|\f")
_CHAPTER = re.compile(
    r"第\s*[一二三四五六七八九十百千零〇\d]+\s*(?P<unit>[编篇部卷章节条])|(?:Chapter|Part|Section)\s+[\dIVXL]+\b"
)
_NUMBERED = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.、]?[ \t\u3000]+\S")
_SENTENCE_END = re.compile(r"[。．.!?！？;；:：,，…、]$")
_LIST_MARK = re.compile(r"[-*+•·>|#=_~]|\(?[\da-zA-Z]\)")
_UNIT_LEVELS = {"编": 2, "篇": 2, "部": 2, "卷": 2, "章": 2, "节": 3, "条": 4}

MAX_HEADING_WIDTH = 60
MAX_HEADING_SHARE = 0.4
TITLE, STANDALONE, LEADING = 1, 2, 3


def parse_plain(path: Path, report: PageReport) -> Iterator[Block]:
    """Read a text file of any encoding."""
    del report
    return blocks_of_text(read_text(path))


def blocks_of_text(text: str, *, has_title: bool = False) -> Iterator[Block]:
    """Cut text into paragraphs and headings; no headings at all if guessing them would swallow the text.

    With `has_title` the text's title stands elsewhere, so its first line is a heading like any other.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    paragraphs = [part.strip("\n") for part in _BLANK_LINES.split(lines) if part.strip()]
    guessed = [
        block
        for index, part in enumerate(paragraphs)
        for block in _guess(part, may_be_title=index == 0 and not has_title)
    ]
    width = sum(len(block.text) for block in guessed)
    if sum(len(block.text) for block in guessed if block.is_heading) > MAX_HEADING_SHARE * width:
        guessed = [paragraph(part) for part in paragraphs]
    return iter(guessed)


def _guess(part: str, *, may_be_title: bool) -> Iterator[Block]:
    first, _, rest = part.partition("\n")
    level = _heading_level(first, rest, may_be_title=may_be_title)
    if level == 0:
        yield paragraph(part)
        return
    yield heading(first, level)
    if rest.strip():
        yield paragraph(rest)


def _heading_level(line: str, rest: str, *, may_be_title: bool) -> int:
    """0 when the line is ordinary text. A line over more text must also be much shorter than what follows."""
    line = line.strip()
    if not line or _width(line) > MAX_HEADING_WIDTH or _SENTENCE_END.search(line) or _LIST_MARK.match(line):
        return 0
    if not any(map(str.isalpha, line)):
        return 0
    if not rest:
        return TITLE if may_be_title else numbered_level(line) or STANDALONE
    if _width(rest.partition("\n")[0]) < 2 * _width(line):
        return 0
    return numbered_level(line) or LEADING


def numbered_level(line: str) -> int:
    """The level that a heading's own number tells (``第二章`` 2, ``2.1`` 3); 0 without a number."""
    if match := _CHAPTER.match(line):
        return _UNIT_LEVELS.get(match["unit"] or "", STANDALONE)
    if match := _NUMBERED.match(line):
        return STANDALONE + match["number"].count(".")
    return 0


def _width(line: str) -> int:
    """Columns that a line takes: East Asian characters count double."""
    return sum(2 if char > "\u2e7f" else 1 for char in line)
