"""Lines of a PDF page, and how they join to paragraphs again."""

import re
from dataclasses import dataclass

_CJK = "\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_ENDS_CJK = re.compile(f"[{_CJK}]$")
_STARTS_CJK = re.compile(f"[{_CJK}]")
_SENTENCE_END = re.compile(r"[。！？!?.:：；;][\"'”’）)]?$")
_ITEM = re.compile(r"[•●▪◦‣·■□–—*-]\s|\(?\d{1,3}[.)、）]\s?(?!\d)|[（(][一二三四五六七八九十]+[)）]")
_SHORT_LINE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text; `size` in points, `level` above 0 for a heading, `is_hyphenated` if its last word goes on."""

    text: str
    size: float
    is_hyphenated: bool = False
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The lines of one page in reading order; `number` counts from 1."""

    number: int
    lines: tuple[Line, ...]


def ends_paragraph(line: Line, width: int) -> bool:
    """A line that ends a sentence well before the right margin ends its paragraph."""
    return bool(_SENTENCE_END.search(line.text)) and len(line.text) < _SHORT_LINE * width


def starts_item(line: Line) -> bool:
    """Whether the line opens an item of a list."""
    return bool(_ITEM.match(line.text))


def join_wrapped(text: str, line: Line, *, after_hyphen: bool) -> str:
    """Append a line to the paragraph before it: no space between two CJK characters or inside a broken word."""
    if not text or after_hyphen or (_ENDS_CJK.search(text) and _STARTS_CJK.match(line.text)):
        return text + line.text
    return f"{text} {line.text}"
