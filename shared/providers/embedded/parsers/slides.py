"""PPTX: each slide a section under its title, with its text, tables and speaker notes; the page is the slide."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PythonPptxError

from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph, record
from shared.providers.embedded.parsers.archive import BROKEN_ARCHIVE, damaged, guard_office_file
from shared.providers.embedded.parsers.tables import joined_row

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide

DECK, SLIDE = 1, 2
_MAX_GROUP_DEPTH = 20


def parse_slides(path: Path, report: PageReport) -> Iterator[Block]:
    """Read a presentation in slide order."""
    guard_office_file(path, "ppt/presentation.xml")
    try:
        slides = list(Presentation(str(path)).slides)
    except (*BROKEN_ARCHIVE, PythonPptxError, etree.XMLSyntaxError, KeyError, ValueError) as error:
        raise damaged(error) from error
    for number, slide in enumerate(slides, 1):
        yield from _read_slide(slide, number)
        report(number, len(slides))


def _read_slide(slide: "Slide", number: int) -> Iterator[Block]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield heading(title.text_frame.text, DECK if _opens_deck(title, number) else SLIDE, number)
    title_id = title.shape_id if title is not None else None
    yield from _read_shapes((shape for shape in slide.shapes if shape.shape_id != title_id), number)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        yield paragraph(notes.text, number)


def _opens_deck(title: "BaseShape", number: int) -> bool:
    return number == 1 and title.is_placeholder and title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE


def _read_shapes(shapes: "Iterable[BaseShape]", number: int, depth: int = 0) -> Iterator[Block]:
    for shape in shapes:
        members = getattr(shape, "shapes", None)
        if members is not None and depth < _MAX_GROUP_DEPTH:
            yield from _read_shapes(members, number, depth + 1)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:  # type: ignore[attr-defined]
                if line := joined_row(cell.text for cell in row.cells if cell.text.strip()):
                    yield record(line, number)
        elif shape.has_text_frame and (text := shape.text_frame.text.strip()):  # type: ignore[attr-defined]
            yield paragraph(text.replace("\v", "\n"), number)
