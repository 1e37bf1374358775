"""What an uploaded file is: told by its content; its name decides only between kinds of text."""

from collections.abc import Iterable
from typing import BinaryIO

from shared.contracts.content_types import ContentType
from shared.contracts.enums import FileFault
from shared.domain.errors import FileRefused
from shared.files.archive_members import NotAnArchive, member_names
from shared.files.errors import FileTypeRefused
from shared.files.naming import extension_of
from shared.files.signatures import (
    BINARY,
    BY_EXTENSION,
    ENCRYPTED_OFFICE_MARK,
    NAMES,
    OLE_MAGIC,
    PDF_MAGIC,
    TEXT_KINDS,
    WRITTEN_AS_TEXT,
    ZIP_MAGICS,
    Signature,
)
from shared.files.text_likeness import is_blank, is_text, is_unmarked_utf16, kind_of_text

HEAD_BYTES = 64 * 1024
PDF_MAY_BEGIN_BEFORE = 1024
"""Readers of PDF accept that much before its first line."""

CONTENT_TYPES_PART = "[Content_Types].xml"
OFFICE_FOLDERS = {"word": ContentType.DOCX, "ppt": ContentType.PPTX, "xl": ContentType.XLSX}
OTHER_ARCHIVES = {
    "mimetype": "an OpenDocument file or an e-book",
    "META-INF/MANIFEST.MF": "a Java program",
    "AndroidManifest.xml": "an Android program",
}


def sniff(view: BinaryIO, file_name: str) -> ContentType:
    """Tell what a file is; FileTypeRefused, with a sentence that says what it is, when it cannot be taken.

    `view` is the whole file, seekable; only its beginning and, for an archive, its directory are read.
    """
    view.seek(0)
    head = view.read(HEAD_BYTES)
    if not head:
        raise FileRefused("The file is empty.", FileFault.EMPTY)
    found = _binary_kind(head, view)
    if found is None and len(head) < HEAD_BYTES and is_blank(head):
        raise FileRefused("The file holds nothing but white space.", FileFault.EMPTY)
    claimed = BY_EXTENSION.get(extension_of(file_name))
    if found is None:
        found = claimed if claimed in TEXT_KINDS else kind_of_text(head)
    if claimed is not None and claimed is not found:
        message = f"The file is named .{extension_of(file_name)}, but its content is {NAMES[found]}."
        raise FileTypeRefused(message, FileFault.TYPE_MISMATCH)
    return found


def _binary_kind(head: bytes, view: BinaryIO) -> ContentType | None:
    """The binary kind that we take, or None for text."""
    if head.startswith(PDF_MAGIC):
        return ContentType.PDF
    if head.startswith(ZIP_MAGICS):
        return _office_kind(view)
    if head.startswith(OLE_MAGIC):
        raise _ole_refusal(head)
    _refuse_any(WRITTEN_AS_TEXT, head)
    if is_text(head):
        return None
    if PDF_MAGIC in head[:PDF_MAY_BEGIN_BEFORE]:
        return ContentType.PDF
    _refuse_any(BINARY, head)
    if is_unmarked_utf16(head):
        return None
    raise FileTypeRefused("The content is neither text nor a kind of document that can be read.")


def _office_kind(view: BinaryIO) -> ContentType:
    """Office documents are ZIP archives with a folder of their own."""
    try:
        names = member_names(view)
    except NotAnArchive:
        message = "The file begins like an Office document but its end is damaged or missing."
        raise FileRefused(message, FileFault.DAMAGED) from None
    folders = {name.partition("/")[0] for name in names}
    kinds = [kind for folder, kind in OFFICE_FOLDERS.items() if folder in folders]
    if CONTENT_TYPES_PART in names and len(kinds) == 1:
        return kinds[0]
    other = next((name for member, name in OTHER_ARCHIVES.items() if member in names), "a ZIP archive")
    raise FileTypeRefused(f"The content is {other}. Files of this kind are not taken.")


def _ole_refusal(head: bytes) -> FileTypeRefused:
    if ENCRYPTED_OFFICE_MARK in head:
        message = "The content is an Office document that is encrypted. Remove its password and upload it again."
        return FileTypeRefused(message, FileFault.ENCRYPTED)
    return FileTypeRefused(
        "The content is an Office document of the kind before 2007, or encrypted. Save it as DOCX, PPTX or XLSX."
    )


def _refuse_any(signatures: Iterable[Signature], head: bytes) -> None:
    for signature in signatures:
        if signature.marks(head):
            raise FileTypeRefused(f"The content is {signature.name}. Files of this kind are not taken.")
