import zipfile
from pathlib import Path

import pytest

from shared.contracts.enums import FailureReason
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers import archive as parsers_archive
from shared.providers.embedded.parsers.archive import guard_office_file

PART = "word/document.xml"


def archive(directory: Path, parts: dict[str, bytes]) -> Path:
    path = directory / "file.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def refused(path: Path) -> FailureReason:
    with pytest.raises(DigestFailed) as failure:
        guard_office_file(path, PART)
    return failure.value.reason


def test_a_sane_archive_passes(tmp_path: Path) -> None:
    guard_office_file(archive(tmp_path, {PART: b"<w/>"}), PART)


def test_an_archive_that_would_expand_without_bound_is_refused_unopened(tmp_path: Path) -> None:
    assert refused(archive(tmp_path, {PART: bytes(30 << 20)})) is FailureReason.FILE_TOO_LARGE


def test_an_archive_of_countless_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers_archive, "MAX_ENTRIES", 10)
    entries = {f"x/{number}.txt": b"" for number in range(10)}

    assert refused(archive(tmp_path, {PART: b"<w/>"} | entries)) is FailureReason.FILE_TOO_LARGE


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_in_office_xml_is_an_entity_bomb(tmp_path: Path, encoding: str) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa">]><w>&a;</w>'.encode(encoding)

    assert refused(archive(tmp_path, {PART: bomb})) is FailureReason.FILE_TOO_LARGE


def test_an_archive_without_the_main_part_is_another_format(tmp_path: Path) -> None:
    assert refused(archive(tmp_path, {"xl/workbook.xml": b"<x/>"})) is FailureReason.FILE_UNSUPPORTED


def test_what_is_no_archive_is_another_format(tmp_path: Path) -> None:
    path = tmp_path / "file.docx"
    path.write_bytes(b"%PDF-1.7 in disguise")

    assert refused(path) is FailureReason.FILE_UNSUPPORTED


def test_a_truncated_archive_is_damaged(tmp_path: Path) -> None:
    path = archive(tmp_path, {PART: bytes(range(256)) * 40})
    path.write_bytes(path.read_bytes()[:-60])

    assert refused(path) is FailureReason.FILE_CORRUPT


def test_an_encrypted_office_file_is_told_from_an_old_binary_one(tmp_path: Path) -> None:
    path = tmp_path / "file.docx"
    magic = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(504)
    path.write_bytes(magic + "EncryptedPackage".encode("utf-16-le"))
    assert refused(path) is FailureReason.FILE_ENCRYPTED

    path.write_bytes(magic + "WordDocument".encode("utf-16-le"))
    assert refused(path) is FailureReason.FILE_UNSUPPORTED
