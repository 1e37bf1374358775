"""How an upload names its file."""

from urllib.parse import quote

import pytest

from services.api.files.names import claimed_name
from shared.contracts.errors import RequestRefused


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("annual%20report.pdf", "annual report.pdf"),
        (quote("手册 🎈.pdf", safe=""), "手册 🎈.pdf"),
        ("UTF-8''" + quote("手册.pdf"), "手册.pdf"),
        ("utf-8'en'a.pdf", "a.pdf"),
        ("..%2F..%2Fetc%2Fpasswd", "../../etc/passwd"),
        ("100%25", "100%"),
    ],
)
def test_a_name_is_percent_encoded_utf8(header: str, name: str) -> None:
    assert claimed_name({"x-file-name": header}) == name


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "MISSING"),
        ({"x-file-name": ""}, "MISSING"),
        ({"x-file-name": "%FF"}, "INVALID"),
        ({"x-file-name": "é"}, "INVALID"),
        ({"x-file-name": "p%zz.pdf"}, "INVALID"),
        ({"x-file-name": "100%"}, "INVALID"),
        ({"x-file-name": "a" * 4097}, "INVALID"),
    ],
)
def test_a_name_that_cannot_be_read_is_refused(headers: dict[str, str], reason: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        claimed_name(headers)

    assert [fault.reason for fault in refused.value.field_errors] == [reason]
    assert refused.value.field_errors[0].field == "X-File-Name"
