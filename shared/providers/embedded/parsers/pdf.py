"""PDF: text page by page through PDFium, with the outline or the font sizes telling the headings."""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.pdf_headings import OutlineEntry, mark_headings
from shared.providers.embedded.parsers.pdf_lines import Line, Page, ends_paragraph, join_wrapped, starts_item

MIN_CHARACTERS_PER_PAGE = 4
"""Below this the pages are pictures: their text would take character recognition."""

MAX_OUTLINE_DEPTH = 9
_MAGIC_WITHIN = 1024
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\u00ad]")
_HYPHENS = ("\ufffe", "\x02")
"""What PDFium writes for a hyphen that only breaks the line."""


def parse_pdf(path: Path, report: PageReport) -> Iterator[Block]:
    """Read a PDF; rejects what needs a password, is damaged, or has no layer of text."""
    with path.open("rb") as file:
        if b"%PDF-" not in file.read(_MAGIC_WITHIN):
            raise DigestFailed(FailureReason.FILE_UNSUPPORTED, "no PDF header")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        encrypted = "password" in str(error).lower()
        raise DigestFailed(
            FailureReason.FILE_ENCRYPTED if encrypted else FailureReason.FILE_CORRUPT, str(error)
        ) from error
    try:
        pages = _read_pages(document, report)
        outline = _read_outline(document)
    except pypdfium2.PdfiumError as error:
        raise DigestFailed(FailureReason.FILE_CORRUPT, str(error)) from error
    finally:
        document.close()
    return _blocks(mark_headings(pages, outline))


def _read_pages(document: pypdfium2.PdfDocument, report: PageReport) -> list[Page]:
    total = len(document)
    pages = []
    for index in range(total):
        page = document[index]
        text_page = page.get_textpage()
        try:
            pages.append(Page(number=index + 1, lines=tuple(_read_lines(text_page))))
        finally:
            text_page.close()
            page.close()
        report(index + 1, total)
    characters = sum(len(line.text) for page in pages for line in page.lines)
    if characters < MIN_CHARACTERS_PER_PAGE * total or not total:
        raise DigestFailed(FailureReason.FILE_SCANNED, f"{characters} characters on {total} pages")
    return pages


def _read_lines(text_page: pypdfium2.PdfTextPage) -> Iterator[Line]:
    count = text_page.count_chars()
    position = 0
    for raw in (text_page.get_text_range(0, count) if count else "").split("\n"):
        body = raw.rstrip("\r")
        text = _UNPRINTABLE.sub("", body.rstrip("".join(_HYPHENS))).strip()
        if text:
            size = _font_size(text_page, position + len(raw) - len(raw.lstrip()))
            yield Line(text=text, size=size, is_hyphenated=body.endswith(_HYPHENS))
        # PDFium counts in UTF-16 units.
        position += len(raw) + 1 + sum(1 for char in raw if char > "\uffff")


def _font_size(text_page: pypdfium2.PdfTextPage, text_index: int) -> float:
    """The size that the line's first character has on paper: nominal size times the scale of its matrix."""
    index = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, text_index)
    if index < 0:
        return 0.0
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(text_page, index, ctypes.byref(matrix)):
        scale = (matrix.c**2 + matrix.d**2) ** 0.5
    return float(round(pdfium.FPDFText_GetFontSize(text_page, index) * (scale or 1.0), 1))


def _read_outline(document: pypdfium2.PdfDocument) -> list[OutlineEntry]:
    entries = []
    for bookmark in document.get_toc(max_depth=MAX_OUTLINE_DEPTH):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination is not None else None
        title = " ".join(bookmark.get_title().split())
        if index is not None and title:
            entries.append(OutlineEntry(title=title, level=bookmark.level + 1, page=index + 1))
    return entries


def _blocks(pages: list[Page]) -> Iterator[Block]:
    """Join the lines between two headings to paragraphs; a paragraph ends with its page, so that its page is exact."""
    for page in pages:
        text = ""
        width = max((len(line.text) for line in page.lines), default=0)
        previous: Line | None = None
        for line in page.lines:
            if line.level or (previous and (ends_paragraph(previous, width) or starts_item(line))):
                if text:
                    yield paragraph(text, page.number)
                text, previous = "", None
            if line.level:
                yield heading(line.text, line.level, page.number)
                continue
            text = join_wrapped(text, line, after_hyphen=previous is not None and previous.is_hyphenated)
            previous = line
        if text:
            yield paragraph(text, page.number)
