"""The kinds of files that the gateway takes, each by the content type that it bears on the wire."""

from enum import StrEnum, unique

_OFFICE = "application/vnd.openxmlformats-officedocument"


@unique
class ContentType(StrEnum):
    """What a file is, told from its content when it is uploaded."""

    PDF = "application/pdf"
    DOCX = f"{_OFFICE}.wordprocessingml.document"
    PPTX = f"{_OFFICE}.presentationml.presentation"
    XLSX = f"{_OFFICE}.spreadsheetml.sheet"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    CSV = "text/csv"
    TSV = "text/tab-separated-values"
    EMAIL = "message/rfc822"
    TEXT = "text/plain"
