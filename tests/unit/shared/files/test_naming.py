"""Names that clients give their files, and the header that gives them back."""

import pytest

from shared.files.errors import FileNameRefused
from shared.files.naming import clean_file_name, content_disposition, extension_of


@pytest.mark.parametrize(
    ("claimed", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("a/b\\c.txt", "c.txt"),
        ("  report.pdf \n", "report.pdf"),
        ("re\x00po\x1brt\x7f.pdf", "report.pdf"),
        ("line\u2028break.txt", "linebreak.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("lone\ud800surrogate.txt", "lonesurrogate.txt"),
        ("e\u0301te\u0301.txt", "été.txt"),
        ("../季度报告 🎉.docx", "季度报告 🎉.docx"),
        (".gitignore", ".gitignore"),
        ("it's 100%.txt", "it's 100%.txt"),
    ],
)
def test_a_name_is_the_last_component_with_nothing_invisible(claimed: str, kept: str) -> None:
    assert clean_file_name(claimed) == kept


@pytest.mark.parametrize("claimed", ["", "   ", "..", "../..", "folder/", "\x00\x01", "\u202e"])
def test_a_name_of_nothing_is_refused(claimed: str) -> None:
    with pytest.raises(FileNameRefused, match="no name"):
        clean_file_name(claimed)


def test_a_name_may_have_255_code_points_and_no_more() -> None:
    assert len(clean_file_name("好" * 255)) == 255
    with pytest.raises(FileNameRefused, match="longer than 255"):
        clean_file_name("好" * 256)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("report.pdf", "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf"),
        ("été.txt", "attachment; filename=\"ete.txt\"; filename*=UTF-8''%C3%A9t%C3%A9.txt"),
        ("报告 1.pdf", "attachment; filename=\"__ 1.pdf\"; filename*=UTF-8''%E6%8A%A5%E5%91%8A%201.pdf"),
        ('a"b;c%20.txt', "attachment; filename=\"a_b_c_20.txt\"; filename*=UTF-8''a%22b%3Bc%2520.txt"),
        ("🎉.txt", "attachment; filename=\"_.txt\"; filename*=UTF-8''%F0%9F%8E%89.txt"),
        ("a\r\nX-Evil: 1", "attachment; filename=\"a__X-Evil_ 1\"; filename*=UTF-8''a%0D%0AX-Evil%3A%201"),
    ],
)
def test_a_download_is_offered_in_ascii_and_in_full(name: str, header: str) -> None:
    assert content_disposition(name) == header


@pytest.mark.parametrize(
    ("name", "extension"),
    [("a.PDF", "pdf"), ("a.tar.gz", "gz"), ("none", ""), (".gitignore", ""), ("dot.", ""), ("报告.docx", "docx")],
)
def test_an_extension_follows_the_last_dot_of_a_name_with_a_stem(name: str, extension: str) -> None:
    assert extension_of(name) == extension
