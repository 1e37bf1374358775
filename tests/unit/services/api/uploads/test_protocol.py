"""The headers of tus 1.0, read strictly."""

import base64
import hashlib

import pytest

from services.api.uploads.protocol import (
    checksum,
    file_name,
    has_bytes,
    refuse_unsupported,
    wanted_length,
    wanted_offset,
)
from shared.contracts.errors import RequestRefused
from shared.contracts.uploads import metadata_of
from shared.domain.errors import FileRefused


def named(name: bytes, *others: str) -> dict[str, str]:
    return {"upload-metadata": ",".join([*others, f"filename {base64.b64encode(name).decode()}"])}


def test_the_name_is_one_of_the_metadata() -> None:
    assert file_name(named("手册 🎈.pdf".encode(), "filetype YXBw", "is_confidential")) == "手册 🎈.pdf"
    assert file_name({"upload-metadata": metadata_of("a b.txt")}) == "a b.txt"
    assert file_name(named(b"../../etc/passwd")) == "passwd"


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "MISSING"),
        ({"upload-metadata": "name YQ=="}, "MISSING"),
        ({"upload-metadata": "filename"}, "MISSING"),
        ({"upload-metadata": "filename a-b!"}, "INVALID"),
        (named(b"\xff\xfe.txt"), "INVALID"),
    ],
)
def test_a_name_that_cannot_be_read_is_refused(headers: dict[str, str], reason: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        file_name(headers)

    assert [(fault.field, fault.reason) for fault in refused.value.field_errors] == [("Upload-Metadata", reason)]


@pytest.mark.parametrize(("name", "reason"), [(b"..", "EMPTY"), (b"a" * 256, "TOO_LONG")])
def test_a_name_that_cannot_be_kept_is_refused_where_it_was_given(name: bytes, reason: str) -> None:
    with pytest.raises(FileRefused) as refused:
        file_name(named(name))

    assert [(fault.field, fault.reason) for fault in refused.value.faults] == [("Upload-Metadata", reason)]


def test_a_length_is_a_number_within_the_limit() -> None:
    assert wanted_length({"upload-length": "5"}, 5) == 5
    for sent, reason in (("0", "EMPTY"), ("6", "TOO_LARGE")):
        with pytest.raises(FileRefused) as refused:
            wanted_length({"upload-length": sent}, 5)
        assert refused.value.faults[0].reason == reason


@pytest.mark.parametrize("sent", ["", "-1", "1.0", "0x5", "٣", "9" * 19])
def test_what_is_no_number_of_bytes_is_refused(sent: str) -> None:
    with pytest.raises(RequestRefused):
        wanted_offset({"upload-offset": sent})


@pytest.mark.parametrize("header", ["upload-defer-length", "upload-concat"])
def test_extensions_that_are_not_there_are_refused(header: str) -> None:
    with pytest.raises(RequestRefused):
        refuse_unsupported({header: "1"})


def test_a_checksum_names_its_algorithm() -> None:
    digest = hashlib.sha256(b"abc").digest()
    found = checksum({"upload-checksum": f"sha256 {base64.b64encode(digest).decode()}"})

    assert found is not None
    assert (found.algorithm, found.digest) == ("sha256", digest)
    assert checksum({}) is None


@pytest.mark.parametrize("sent", ["", "sha256", "md5 rL0Y20zC+Fzt72VPzMSk2A==", "sha256 YQ==", "sha1 not-base64!"])
def test_a_checksum_that_cannot_be_checked_is_refused(sent: str) -> None:
    with pytest.raises(RequestRefused):
        checksum({"upload-checksum": sent})


def test_only_bytes_that_continue_a_file_are_taken_for_such() -> None:
    assert has_bytes({"content-type": "application/offset+octet-stream"})
    assert not has_bytes({"content-type": "application/octet-stream"})
    assert not has_bytes({})
