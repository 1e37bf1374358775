"""Which lines of a PDF are headings: by its outline if it has one, else by the size of the letters.

Running heads, page numbers and the dotted lines of a table of contents are taken out on the way.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from shared.providers.embedded.parsers.pdf_lines import Line, Page

HEADING_SCALE = 1.12
MAX_HEADING_CHARACTERS = 80
MAX_HEADING_SHARE = 0.4
MAX_LEVELS = 6
MIN_RUNNING_SHARE = 0.4
MAX_RUNNING_CHARACTERS = 100
_EDGE_LINES = 2
_MAX_TITLE_LINES = 3
_DIGITS = re.compile(r"\d+")
_LEADER = re.compile(r"(?:[.…·]\s?){4,}\s*\d+$")
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:page\s*)?\d+(?:\s*(?:/|of)\s*\d+)?[-–—\s]*|第\s*\d+\s*页.*", re.IGNORECASE)
_NUMBER_PREFIX = re.compile(
    r"(?:(?:chapter|section|part)?[\dA-Z]{0,3}(?:\.\d+)*[.:、]?|第.{1,4}[章节部篇])$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """A bookmark: `level` from 1, `page` from 1."""

    title: str
    level: int
    page: int


def mark_headings(pages: list[Page], outline: list[OutlineEntry]) -> list[Page]:
    """Give each heading line its level, and drop lines that only help to leaf through the pages."""
    body = _body_size(pages)
    pages = _without_running_lines(pages, body)
    if outline:
        return _mark_by_outline(pages, outline, body)
    return _mark_by_size(pages, body)


def _body_size(pages: list[Page]) -> float:
    weights: Counter[float] = Counter()
    for line in _lines(pages):
        weights[line.size] += len(line.text)
    return weights.most_common(1)[0][0] if weights else 0.0


def _lines(pages: Iterable[Page]) -> Iterable[Line]:
    return (line for page in pages for line in page.lines)


def _mask(text: str) -> str:
    return _DIGITS.sub("#", text)


def _without_running_lines(pages: list[Page], body: float) -> list[Page]:
    """Lines at a page's edges that come back, digits aside, on many pages; larger ones are chapter headings."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_mask(line.text) for line in _edges(page) if _may_run(line, body)})
    least = max(2, MIN_RUNNING_SHARE * len(pages))
    # On two pages a mere repetition proves little: only one that counts its pages is a running line.
    running = {text for text, count in counts.items() if count >= least and (len(pages) > 2 or "#" in text)}

    def is_kept(line: Line) -> bool:
        if _LEADER.search(line.text) or _PAGE_NUMBER.fullmatch(line.text):
            return False
        return not _may_run(line, body) or _mask(line.text) not in running

    return [replace(page, lines=tuple(filter(is_kept, page.lines))) for page in pages]


def _may_run(line: Line, body: float) -> bool:
    return line.size <= body and len(line.text) <= MAX_RUNNING_CHARACTERS


def _edges(page: Page) -> tuple[Line, ...]:
    return page.lines[:_EDGE_LINES] + page.lines[-_EDGE_LINES:]


def _mark_by_size(pages: list[Page], body: float) -> list[Page]:
    """The larger the letters, the higher the heading; none at all if most of the text would be headings."""

    def is_large(line: Line) -> bool:
        return line.size >= HEADING_SCALE * body and len(line.text) <= MAX_HEADING_CHARACTERS

    large = [line for line in _lines(pages) if is_large(line)]
    if sum(len(line.text) for line in large) > MAX_HEADING_SHARE * sum(len(line.text) for line in _lines(pages)):
        return pages
    sizes = sorted({line.size for line in large}, reverse=True)[:MAX_LEVELS]
    levels = {size: level for level, size in enumerate(sizes, 1)}
    return [
        replace(
            page,
            lines=_join_headings([replace(x, level=levels.get(x.size, 0) if is_large(x) else 0) for x in page.lines]),
        )
        for page in pages
    ]


def _join_headings(lines: list[Line]) -> tuple[Line, ...]:
    """A heading that takes two lines is one heading."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if line.level and before and before.level == line.level and not _DIGITS.match(line.text):
            joined[-1] = replace(before, text=f"{before.text} {line.text}")
        else:
            joined.append(line)
    return tuple(joined)


def _mark_by_outline(pages: list[Page], outline: list[OutlineEntry], body: float) -> list[Page]:
    title = _document_title(pages, outline, body)
    if title is not None:
        outline = [replace(entry, level=entry.level + 1) for entry in outline]
    by_page: dict[int, list[OutlineEntry]] = {}
    for entry in outline:
        by_page.setdefault(entry.page, []).append(entry)
    marked = [_mark_page(page, by_page.get(page.number, ())) for page in pages]
    if title is not None:
        first = marked[0].lines
        marked[0] = replace(marked[0], lines=tuple(replace(x, level=1) if x == title else x for x in first))
    return marked


def _document_title(pages: list[Page], outline: list[OutlineEntry], body: float) -> Line | None:
    """The one largest line of the first page, if the outline leaves it out."""
    lines = pages[0].lines if pages else ()
    largest = max((line.size for line in lines), default=0.0)
    found = [line for line in lines if line.size == largest]
    if len(found) != 1 or largest < HEADING_SCALE * body or len(found[0].text) > MAX_HEADING_CHARACTERS:
        return None
    titles = {_squeeze(entry.title) for entry in outline}
    return None if any(_squeeze(found[0].text) in title for title in titles) else found[0]


def _mark_page(page: Page, entries: Iterable[OutlineEntry]) -> Page:
    """Find each bookmark's lines; one that is not found goes to the top if it is the first, else to the end."""
    lines = list(page.lines)
    position = 0
    for entry in entries:
        found = _find(lines, entry, position)
        line = Line(text=entry.title, size=0.0, level=entry.level)
        if found is not None:
            start, end = found
            lines[start:end] = [line]
            position = start + 1
        elif position == 0:
            lines.insert(0, line)
            position = 1
        else:
            lines.append(line)
    return replace(page, lines=tuple(lines))


def _find(lines: list[Line], entry: OutlineEntry, position: int) -> tuple[int, int] | None:
    wanted = _squeeze(entry.title)
    for start in range(position, len(lines)):
        for end in range(start + 1, min(start + _MAX_TITLE_LINES, len(lines)) + 1):
            if any(line.level for line in lines[start:end]):
                break
            text = _squeeze("".join(line.text for line in lines[start:end]))
            if text == wanted or (text.endswith(wanted) and _NUMBER_PREFIX.match(text[: -len(wanted)])):
                return start, end
            if len(text) > len(wanted) + MAX_HEADING_CHARACTERS:
                break
    return None


def _squeeze(text: str) -> str:
    return "".join(text.split()).lower()
