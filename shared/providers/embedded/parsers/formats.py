"""Which parser reads which content type, and how a file becomes blocks."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from shared.contracts.content_types import ContentType
from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, PageReport
from shared.providers.embedded.failures import DigestFailed

Parser = Callable[[Path, PageReport], Iterator[Block]]

PARSERS: dict[ContentType, tuple[str, str]] = {
    ContentType.PDF: ("pdf", "parse_pdf"),
    ContentType.DOCX: ("word", "parse_word"),
    ContentType.PPTX: ("slides", "parse_slides"),
    ContentType.XLSX: ("sheets", "parse_sheets"),
    ContentType.HTML: ("web", "parse_web"),
    ContentType.MARKDOWN: ("markdown", "parse_markdown"),
    ContentType.CSV: ("delimited", "parse_delimited"),
    ContentType.TSV: ("delimited", "parse_delimited"),
    ContentType.EMAIL: ("mail", "parse_mail"),
    ContentType.TEXT: ("plain", "parse_plain"),
}
"""Module and function by name, so that a child loads only the libraries of the formats it meets."""


def parser_for(content_type: str) -> Parser:
    """Find the parser of a content type; parameters such as ``; charset=utf-8`` are ignored."""
    try:
        module, function = PARSERS[ContentType(content_type.partition(";")[0].strip().lower())]
    except ValueError as error:
        raise DigestFailed(FailureReason.FILE_UNSUPPORTED, "no parser for this content type") from error
    parser: Parser = getattr(import_module(f"shared.providers.embedded.parsers.{module}"), function)
    return parser


def read_blocks(path: Path, content_type: str, report: PageReport) -> Iterator[Block]:
    """Parse a file; an empty one is rejected before any library sees it."""
    if path.stat().st_size == 0:
        raise DigestFailed(FailureReason.FILE_EMPTY)
    return parser_for(content_type)(path, report)
