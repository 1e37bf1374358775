"""The words of tus 1.0 in a request's headers: version, length, offset, metadata, checksum."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from services.api.edge.bodies import declared_length
from shared.contracts.enums import FileFault
from shared.contracts.errors import ErrorCode, FieldError, RequestRefused, invalid
from shared.contracts.uploads import (
    NAME_KEY,
    OFFSET_BYTES,
    UPLOAD_CHECKSUM,
    UPLOAD_LENGTH,
    UPLOAD_METADATA,
    UPLOAD_OFFSET,
)
from shared.domain.errors import FileRefused
from shared.files.errors import FileNameRefused, FileTooLarge
from shared.files.naming import clean_file_name

if TYPE_CHECKING:
    from hashlib import _Hash

EXTENSIONS: Final = "creation,creation-with-upload,termination,expiration,checksum"
ALGORITHMS: Final[Mapping[str, "Callable[[], _Hash]"]] = {
    "sha256": hashlib.sha256,
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
}
CHECKSUM_MISMATCH: Final = 460
"""The protocol's own status."""

LONGEST_NUMBER: Final = 18
"""Digits; what has more is no size of a file."""
UNSUPPORTED: Final = ("Upload-Defer-Length", "Upload-Concat")
"""Headers of extensions that we have not: to pass over one would keep something else than the client means."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the bytes of one request must come to."""

    algorithm: str
    digest: bytes

    def new_hash(self) -> "_Hash":
        """An empty hash of the algorithm."""
        return ALGORITHMS[self.algorithm]()


def refuse_unsupported(headers: Mapping[str, str]) -> None:
    """Refuse what an extension asks for that `EXTENSIONS` does not name."""
    for name in UNSUPPORTED:
        if name.lower() in headers:
            raise invalid(name, "UNSUPPORTED", "This extension of the protocol is not supported")


def wanted_length(headers: Mapping[str, str], most: int) -> int:
    """How long the file will be; refused when it is not said, nothing, or more than `most`."""
    length = _number(headers, UPLOAD_LENGTH)
    if length == 0:
        raise FileRefused("The file is empty.", FileFault.EMPTY)
    if length > most:
        raise FileTooLarge(most)
    return length


def wanted_offset(headers: Mapping[str, str]) -> int:
    """From where on the body continues the file."""
    return _number(headers, UPLOAD_OFFSET)


def has_bytes(headers: Mapping[str, str]) -> bool:
    """Whether the body, if there is one, continues the file."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == OFFSET_BYTES


def require_bytes(headers: Mapping[str, str]) -> None:
    """Refuse a body that is not said to continue the file."""
    if not has_bytes(headers):
        fault = FieldError(field="Content-Type", reason="INVALID", message=f"Must be {OFFSET_BYTES}")
        raise RequestRefused(ErrorCode.UNSUPPORTED_MEDIA_TYPE, (fault,))


def require_room(headers: Mapping[str, str], room: int, length: int) -> None:
    """Refuse a body that says that it is longer than what is missing of the file."""
    if (declared_length(headers) or 0) > room:
        raise FileTooLarge(length)


def file_name(headers: Mapping[str, str]) -> str:
    """The name that the file goes by, from the metadata; refused like that of a plain upload."""
    encoded = _metadata(headers.get(UPLOAD_METADATA.lower(), "")).get(NAME_KEY)
    if not encoded:
        raise invalid(UPLOAD_METADATA, "MISSING", f"Name the file under the key {NAME_KEY}, as Base64 of UTF-8")
    try:
        return clean_file_name(base64.b64decode(encoded, validate=True).decode())
    except FileNameRefused as refused:
        raise refused.given_in(UPLOAD_METADATA) from None
    except (binascii.Error, UnicodeDecodeError):
        raise invalid(UPLOAD_METADATA, "INVALID", f"The value of {NAME_KEY} must be Base64 of UTF-8") from None


def checksum(headers: Mapping[str, str]) -> Checksum | None:
    """What the body must come to; None when the client does not say."""
    sent = headers.get(UPLOAD_CHECKSUM.lower())
    if sent is None:
        return None
    algorithm, _, encoded = sent.strip().partition(" ")
    try:
        digest = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        digest = b""
    if algorithm not in ALGORITHMS or len(digest) != ALGORITHMS[algorithm]().digest_size:
        message = f"Must be {' or '.join(ALGORITHMS)}, a space, and the digest in Base64"
        raise invalid(UPLOAD_CHECKSUM, "INVALID", message)
    return Checksum(algorithm, digest)


def _metadata(header: str) -> Mapping[str, str]:
    pairs = (pair.strip().partition(" ") for pair in header.split(","))
    return {key: value.strip() for key, _, value in pairs}


def _number(headers: Mapping[str, str], name: str) -> int:
    sent = headers.get(name.lower(), "")
    if not (sent.isascii() and sent.isdigit() and len(sent) <= LONGEST_NUMBER):
        raise invalid(name, "INVALID" if sent else "MISSING", "Must be a number of bytes")
    return int(sent)
