"""The gate before every Office file: it must be a sane zip archive of the kind that it claims to be."""

import zipfile
import zlib
from pathlib import Path

from lxml import etree

from shared.contracts.enums import FailureReason
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.limits import MEBIBYTE

MAX_EXPANDED_BYTES = 512 * MEBIBYTE
MAX_ENTRIES = 20_000
MAX_RATIO = 200
SUSPECT_MEMBER_BYTES = 20 * MEBIBYTE

BROKEN_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
"""What reading a damaged archive raises."""

_ZIP_MAGIC = b"PK\x03\x04"
_COMPOUND_MAGIC = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_XML_SUFFIXES = (".xml", ".rels")
_PROLOG_BYTES = 4096


def guard_office_file(path: Path, main_part: str) -> None:
    """Reject what is not an Office archive with `main_part`, what is encrypted, and what would expand without bound.

    Nothing is unpacked but the first bytes of each XML part: Office XML never carries a document type, so one
    that does is an entity bomb.
    """
    _check_magic(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_expansion(members)
            _check_parts(archive, members, main_part)
    except BROKEN_ARCHIVE as error:
        raise damaged(error) from error


def damaged(error: Exception) -> DigestFailed:
    """What a library's error over an Office file means. Refused memory reaches us as an error of syntax."""
    if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
        return DigestFailed(FailureReason.FILE_TOO_COMPLEX, "out of memory")
    return DigestFailed(FailureReason.FILE_CORRUPT, type(error).__name__)


def _check_magic(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(8)
        if head.startswith(_ZIP_MAGIC):
            return
        if head == _COMPOUND_MAGIC and _ENCRYPTED_STREAM in head + file.read(8 * MEBIBYTE):
            raise DigestFailed(FailureReason.FILE_ENCRYPTED, "an encrypted Office package")
    raise DigestFailed(FailureReason.FILE_UNSUPPORTED, "not an Office archive")


def _check_expansion(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_ENTRIES:
        raise DigestFailed(FailureReason.FILE_TOO_LARGE, f"{len(members)} entries")
    total = sum(member.file_size for member in members)
    if total > MAX_EXPANDED_BYTES or any(map(_is_suspect, members)):
        raise DigestFailed(FailureReason.FILE_TOO_LARGE, f"expands to {total} bytes")


def _is_suspect(member: zipfile.ZipInfo) -> bool:
    return member.file_size > SUSPECT_MEMBER_BYTES and member.file_size > MAX_RATIO * max(1, member.compress_size)


def _check_parts(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], main_part: str) -> None:
    if main_part not in archive.namelist():
        raise DigestFailed(FailureReason.FILE_UNSUPPORTED, f"no {main_part}")
    for member in members:
        if member.flag_bits & 1:
            raise DigestFailed(FailureReason.FILE_ENCRYPTED, "an encrypted archive")
        if member.filename.endswith(_XML_SUFFIXES):
            with archive.open(member) as part:
                prolog = part.read(_PROLOG_BYTES).replace(b"\0", b"")
            if b"<!DOCTYPE" in prolog or b"<!ENTITY" in prolog:
                raise DigestFailed(FailureReason.FILE_TOO_LARGE, "a document type with entities")
