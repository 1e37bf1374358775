"""Markdown: ATX and setext headings, fenced code kept whole and never mistaken for headings, front matter's title."""

import re
from collections.abc import Iterator
from pathlib import Path

from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph
from shared.providers.embedded.parsers.encodings import read_text

_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:(?P<outer>=+)|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_NOT_PROSE = re.compile(r" {0,3}(?:[-*+>|]|\d{1,9}[.)][ \t])| {4}|\t")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<body>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?(?P<title>.+?)[\"']?[ \t]*$", re.MULTILINE)
MAX_HEADING_LINE = 500
"""A longer line is text, whatever it begins with; it also bounds what the patterns have to look at."""

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"!?\[(?P<text>[^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|`+|~~|(?<!\w)_{1,3}(?=\S))(?P<text>.+?)(?P=mark)")


def parse_markdown(path: Path, report: PageReport) -> Iterator[Block]:
    """Read a Markdown file; paragraphs keep their source form."""
    del report
    return blocks_of_markdown(read_text(path))


def blocks_of_markdown(text: str) -> Iterator[Block]:
    """Cut Markdown source into headings and paragraphs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if match := _FRONT_MATTER.match(text):
        text = text[match.end() :]
        title = _FRONT_TITLE.search(match["body"])
        if title and not re.search(r"^# ", text, re.MULTILINE):
            yield heading(title["title"], 1)
    yield from _Lines().read(text.split("\n"))


class _Lines:
    """Reads line by line; holds the open paragraph and the open fence."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._fence = ""
        self._in_comment = False

    def read(self, lines: list[str]) -> Iterator[Block]:
        for line in lines:
            yield from self._take_code(line) if self._fence else self._take(line)
        yield from self._close()

    def _take_code(self, line: str) -> Iterator[Block]:
        self._open.append(line)
        mark = line.strip()
        if mark.startswith(self._fence) and not mark.strip(self._fence[0]):
            self._fence = ""
            yield from self._close()

    def _take(self, line: str) -> Iterator[Block]:
        if match := _FENCE.match(line):
            yield from self._close()
            self._fence = match["fence"]
            self._open.append(line)
        elif not line.strip():
            yield from self._close()
        elif len(line) > MAX_HEADING_LINE:
            self._open.append(line)
        elif match := _ATX.match(line):
            yield from self._close()
            if title := plain_title(match["title"] or ""):
                yield heading(title, len(match["marks"]))
        elif (match := _SETEXT.match(line)) and self._is_title():
            title, self._open = " ".join(self._open), []
            yield heading(plain_title(title), 1 if match["outer"] else 2)
        elif not _RULE.match(line):
            self._open.append(line)

    def _is_title(self) -> bool:
        """Whether the open lines can be the words above a setext underline."""
        return (
            bool(self._open) and not _NOT_PROSE.match(self._open[-1]) and sum(map(len, self._open)) <= MAX_HEADING_LINE
        )

    def _close(self) -> Iterator[Block]:
        text, self._open = "\n".join(self._open), []
        if not text.lstrip().startswith(("`", "~")):
            text = _COMMENT.sub("", text)
        if text.strip():
            yield paragraph(text)


def plain_title(title: str) -> str:
    """A heading's words without emphasis, code marks and link targets."""
    title = _LINK.sub(lambda match: match["text"], title)
    for _ in range(3):
        title = _EMPHASIS.sub(lambda match: match["text"], title)
    return title.strip()
