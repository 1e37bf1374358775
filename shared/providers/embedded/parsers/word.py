"""DOCX: paragraphs, tables and text boxes in order; headings by style or outline level.

The body is walked by hand because the library's own iteration leaves out content controls, insertions
that are still tracked, and text boxes.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import docx
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml import etree

from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph, record
from shared.providers.embedded.parsers.archive import BROKEN_ARCHIVE, damaged, guard_office_file
from shared.providers.embedded.parsers.tables import joined_row

if TYPE_CHECKING:
    from docx.document import Document

_HEADING_STYLE = re.compile(r"(?:heading|标题|überschrift|titre)\s*([1-9])$", re.IGNORECASE)
_TITLE_STYLES = frozenset(("title", "标题"))
_CONTAINERS = frozenset(map(qn, ("w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag")))
_SKIPPED = frozenset(map(qn, ("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:txbxContent"))) | {
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
}
_BREAKS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_TEXT, _PARAGRAPH, _TABLE, _TEXT_BOX = qn("w:t"), qn("w:p"), qn("w:tbl"), qn("w:txbxContent")
_NO_LEVEL = 9
_MAX_STYLE_CHAIN = 10


def parse_word(path: Path, report: PageReport) -> Iterator[Block]:
    """Read a Word document. It has no pages until it is laid out, so blocks carry none."""
    del report
    guard_office_file(path, "word/document.xml")
    try:
        document = docx.Document(str(path))
    except (*BROKEN_ARCHIVE, OpcError, etree.XMLSyntaxError, KeyError, ValueError) as error:
        raise damaged(error) from error
    return _Body(_style_levels(document)).read(document.element.body)


def _style_levels(document: "Document") -> dict[str, int]:
    """The heading level that each style gives, through the styles it is based on."""
    elements = {style.get(qn("w:styleId"), ""): style for style in document.styles.element.iter(qn("w:style"))}
    return {style_id: _inherited_level(style_id, elements) for style_id in elements}


def _inherited_level(style_id: str, elements: dict[str, etree._Element]) -> int:
    for _ in range(_MAX_STYLE_CHAIN):
        element = elements.get(style_id)
        if element is None:
            return 0
        if level := _style_level(element):
            return level
        based_on = element.find(qn("w:basedOn"))
        style_id = based_on.get(qn("w:val"), "") if based_on is not None else ""
    return 0


def _style_level(style: etree._Element) -> int:
    """Title is level 1 and `Heading 1` level 2, as a title stands over the chapters."""
    name_element = style.find(qn("w:name"))
    name = (name_element.get(qn("w:val")) or "").strip() if name_element is not None else ""
    if name.lower() in _TITLE_STYLES:
        return 1
    if match := _HEADING_STYLE.match(name):
        return int(match[1]) + 1
    return _outline_level(style.find(qn("w:pPr")))


def _outline_level(properties: etree._Element | None) -> int:
    outline = properties.find(qn("w:outlineLvl")) if properties is not None else None
    level = int(outline.get(qn("w:val")) or _NO_LEVEL) if outline is not None else _NO_LEVEL
    return level + 2 if level < _NO_LEVEL else 0


class _Body:
    """Walks block elements; knows which styles are headings."""

    def __init__(self, levels: dict[str, int]) -> None:
        self._levels = levels

    def read(self, parent: etree._Element) -> Iterator[Block]:
        for element in parent.iterchildren(tag=etree.Element):
            if element.tag == _PARAGRAPH:
                yield from self._paragraph(element)
            elif element.tag == _TABLE:
                yield from self._table(element)
            elif element.tag in _CONTAINERS and not _is_contents_table(element):
                yield from self.read(element)

    def _paragraph(self, element: etree._Element) -> Iterator[Block]:
        text = _text_of(element)
        if text.strip():
            level = self._level(element)
            yield heading(text, level) if level else paragraph(text)
        for box in element.iter(_TEXT_BOX):
            if not _is_fallback(box):
                yield from self.read(box)

    def _level(self, element: etree._Element) -> int:
        properties = element.find(qn("w:pPr"))
        if properties is None:
            return 0
        style = properties.find(qn("w:pStyle"))
        by_style = self._levels.get(style.get(qn("w:val")) or "", 0) if style is not None else 0
        return by_style or _outline_level(properties)

    def _table(self, table: etree._Element) -> Iterator[Block]:
        rows = [row for row in table.iter(qn("w:tr")) if next(row.iterancestors(_TABLE)) is table]
        for row in rows:
            cells = [cell for cell in row.iter(qn("w:tc")) if next(cell.iterancestors(qn("w:tr"))) is row]
            texts = [" ".join(_text_of(part) for part in cell.iter(_PARAGRAPH)) for cell in cells]
            if line := joined_row(text for text in texts if text.strip()):
                yield record(line)


def _text_of(element: etree._Element) -> str:
    """The visible text of one paragraph: tracked deletions, fallbacks and text boxes are left out."""
    parts: list[str] = []
    stack = list(element.iterchildren(tag=etree.Element, reversed=True))
    while stack:
        node = stack.pop()
        if node.tag == _TEXT:
            parts.append(node.text or "")
        elif node.tag in _BREAKS:
            parts.append(_BREAKS[str(node.tag)])
        elif node.tag not in _SKIPPED:
            stack.extend(node.iterchildren(tag=etree.Element, reversed=True))
    return "".join(parts)


def _is_fallback(element: etree._Element) -> bool:
    return any(str(parent.tag).endswith("}Fallback") for parent in element.iterancestors())


def _is_contents_table(element: etree._Element) -> bool:
    """Word keeps the table of contents in a content control; its lines repeat every heading."""
    gallery = element.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}/{qn('w:docPartGallery')}")
    return gallery is not None and (gallery.get(qn("w:val")) or "") == "Table of Contents"
