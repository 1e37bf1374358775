"""Files told by their content: what is taken, what is refused, and what the refusal says."""

import io
import struct
import zipfile

import pytest

from shared.contracts.content_types import ContentType
from shared.contracts.errors import ErrorCode
from shared.domain.errors import FileRefused
from shared.files.archive_members import MOST_DIRECTORY_BYTES
from shared.files.errors import FileTypeRefused
from shared.files.signatures import BINARY, BY_EXTENSION, NAMES, TEXT_KINDS, WRITTEN_AS_TEXT, Signature
from shared.files.sniffing import sniff

MAIL = b"From: a@example.org\r\nTo: b@example.org\r\nSubject: Hello\r\n\r\nBody\r\n"
CHINESE = "信息安全管理制度\n第一章 总则\n1.1 口令\n"


def archive(*members: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            archive.writestr(member, "<xml/>")
    return written.getvalue()


DOCX = archive("[Content_Types].xml", "_rels/.rels", "word/document.xml")
PPTX = archive("[Content_Types].xml", "ppt/presentation.xml", "ppt/embeddings/book.xlsx")
XLSX = archive("[Content_Types].xml", "xl/workbook.xml")


def kind(content: bytes, name: str = "file") -> ContentType:
    return sniff(io.BytesIO(content), name)


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (b"%PDF-1.7\n...", "a.pdf", ContentType.PDF),
        (b"\x00\x01junk before\n%PDF-1.4\n", "a.pdf", ContentType.PDF),
        (DOCX, "a.docx", ContentType.DOCX),
        (PPTX, "a.pptx", ContentType.PPTX),
        (XLSX, "a.XLSX", ContentType.XLSX),
        (b"# Title\n", "a.md", ContentType.MARKDOWN),
        (b"a,b\n1,2\n", "a.csv", ContentType.CSV),
        (b"a\tb\n", "a.tsv", ContentType.TSV),
        (b"plain", "a.txt", ContentType.TEXT),
        (b"<p>no doctype</p>", "a.htm", ContentType.HTML),
        (MAIL, "a.eml", ContentType.EMAIL),
    ],
)
def test_every_kind_is_recognised_under_its_own_name(content: bytes, name: str, expected: ContentType) -> None:
    assert kind(content, name) is expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"%PDF-1.7\n...", ContentType.PDF),
        (DOCX, ContentType.DOCX),
        (b"\xef\xbb\xbf  <!-- hello -->\n<!DOCTYPE html><title>x</title>", ContentType.HTML),
        ('<?xml version="1.0"?>\n<html xmlns="x">'.encode("utf-16"), ContentType.HTML),
        (MAIL, ContentType.EMAIL),
        (b"Received: by x\n\tfolded line\nDate: now\nMessage-ID: <1>\n\nBody", ContentType.EMAIL),
        (b"From: a note to myself\nTo: do\nnothing more\n", ContentType.TEXT),
        (b"a,b\n1,2\n", ContentType.TEXT),
        (b"# Title\n", ContentType.TEXT),
    ],
)
def test_a_name_that_claims_nothing_leaves_it_to_the_content(content: bytes, expected: ContentType) -> None:
    assert kind(content, "upload.bin") is expected


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030", "big5"]
)
def test_text_is_text_in_any_encoding(encoding: str) -> None:
    text = CHINESE if encoding != "big5" else "資訊安全管理制度\n第一章 總則\n"

    assert kind(text.encode(encoding) * 3, "rules.txt") is ContentType.TEXT


@pytest.mark.parametrize("text", ["Müller schloß das Café.\n", "naïve façade\n"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_western_text_is_text_in_any_encoding(text: str, encoding: str) -> None:
    assert kind(text.encode(encoding), "note.txt") is ContentType.TEXT


def test_a_character_cut_in_two_at_the_end_of_the_beginning_is_still_text() -> None:
    assert kind(b"x" + "好".encode() * 30000, "a.txt") is ContentType.TEXT


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"MZ\x90\x00\x03\x00\x00\x00", "a Windows program"),
        (b"\x7fELF\x02\x01\x01\x00", "a Linux program"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", "a JPEG image"),
        (b"\x00\x00\x00\x18ftypmp42\x00", "a video, or an image from a camera"),
        (b"\x1f\x8b\x08\x00\x00\x00", "a GZIP archive"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "a 7-Zip archive"),
        (b"x" * 100 + b"\0" * 157 + b"ustar\x0000", "a TAR archive"),
        (b"{\\rtf1\\ansi hello}", "an RTF document"),
        (archive("a.txt"), "a ZIP archive"),
        (archive("[Content_Types].xml", "word/document.xml", "xl/workbook.xml"), "a ZIP archive"),
        (archive("word/document.xml"), "a ZIP archive"),
        (archive("mimetype", "content.xml"), "an OpenDocument file or an e-book"),
    ],
)
def test_what_is_not_a_document_is_refused_by_its_name(content: bytes, said: str) -> None:
    with pytest.raises(FileTypeRefused) as raised:
        kind(content, "report.txt")

    assert str(raised.value) == f"The content is {said}. Files of this kind are not taken."
    assert raised.value.code is ErrorCode.FILE_TYPE_NOT_ALLOWED


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"%PDF-1.7\n", "a.docx", "The file is named .docx, but its content is a PDF document."),
        (b"%PDF-1.7\n", "a.txt", "The file is named .txt, but its content is a PDF document."),
        (DOCX, "a.pdf", "The file is named .pdf, but its content is a Word document."),
        (DOCX, "a.xlsx", "The file is named .xlsx, but its content is a Word document."),
        (b"only words", "a.pdf", "The file is named .pdf, but its content is text."),
        (b"<!doctype html>", "a.docx", "The file is named .docx, but its content is an HTML page."),
    ],
)
def test_a_name_that_claims_another_kind_is_refused(content: bytes, name: str, said: str) -> None:
    with pytest.raises(FileTypeRefused) as raised:
        kind(content, name)

    assert str(raised.value) == said


@pytest.mark.parametrize("content", [b"\x80\x81\x00\x02" * 100, bytes(range(256)) * 20, b"\0" * 100])
def test_binary_of_no_known_kind_is_refused(content: bytes) -> None:
    with pytest.raises(FileTypeRefused, match="neither text nor a kind of document"):
        kind(content, "a.txt")


@pytest.mark.parametrize("name", ["a.txt", "a.pdf", "a.docx", "a"])
def test_an_empty_file_is_refused_as_empty(name: str) -> None:
    with pytest.raises(FileRefused, match=r"^The file is empty\.$"):
        kind(b"", name)


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xfe\xff", b"\n", b"  \t\r\n", b"\xff\xfe \0\n\0", b"\xc2\xa0"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a"])
def test_a_file_of_white_space_is_refused_as_empty(content: bytes, name: str) -> None:
    with pytest.raises(FileRefused, match="nothing but white space"):
        kind(content, name)


def test_white_space_in_front_of_text_is_no_matter() -> None:
    assert kind(b"\n" * 100_000 + b"a", "a.txt") is ContentType.TEXT
    assert kind(b"\xef\xbb\xbf\n.", "a.txt") is ContentType.TEXT


@pytest.mark.parametrize("kept", [30, 100, len(DOCX) - 1])
def test_an_office_document_that_was_cut_off_is_refused_as_damaged(kept: int) -> None:
    with pytest.raises(FileRefused, match="damaged or missing"):
        kind(DOCX[:kept], "a.docx")


def test_an_archive_whose_directory_is_not_one_is_refused_as_damaged() -> None:
    broken = DOCX.replace(b"PK\x01\x02", b"PK\x01\x00")

    with pytest.raises(FileRefused, match="damaged or missing"):
        kind(broken, "a.docx")


def test_an_archive_with_an_enormous_directory_is_not_read() -> None:
    class Watched(io.BytesIO):
        longest_read = 0

        def read(self, size: int | None = -1, /) -> bytes:
            Watched.longest_read = max(Watched.longest_read, size or 0)
            return super().read(size)

    directory = b"\0" * (MOST_DIRECTORY_BYTES + 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 4, 0)

    with pytest.raises(FileRefused, match="damaged or missing"):
        sniff(Watched(b"PK\x03\x04" + directory + end), "a.docx")
    assert Watched.longest_read < 128 * 1024


def test_an_encrypted_office_document_is_refused_as_encrypted() -> None:
    with pytest.raises(FileTypeRefused, match="Remove its password"):
        kind(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"), "a.docx")


def test_an_old_office_document_is_refused_with_what_to_do() -> None:
    with pytest.raises(FileTypeRefused, match="Save it as DOCX"):
        kind(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc")


def test_letters_that_also_begin_a_binary_format_may_begin_a_text() -> None:
    for beginning in (b"MZ is a marker", b"BMW cars", b"RIFF raff", b"ID3 tags", b"the ftyp box"):
        assert kind(beginning, "a.txt") is ContentType.TEXT


def test_many_comments_before_no_page_are_read_in_one_go() -> None:
    assert kind(b"<!-- a -->" * 5000 + b"<p>", "page") is ContentType.TEXT


def test_the_tables_name_every_kind() -> None:
    assert set(NAMES) == set(ContentType)
    assert set(BY_EXTENSION.values()) == set(ContentType)
    assert {ContentType.PDF, ContentType.DOCX, ContentType.PPTX, ContentType.XLSX} == set(ContentType) - TEXT_KINDS


@pytest.mark.parametrize("signature", [*BINARY, *WRITTEN_AS_TEXT], ids=lambda signature: repr(signature.magic))
def test_every_signature_of_the_table_refuses(signature: Signature) -> None:
    content = b"\0" * signature.offset + signature.magic + b"\0" * 16

    with pytest.raises(FileTypeRefused, match=signature.name):
        kind(content)
