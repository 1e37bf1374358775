"""How an upload says what its file is called: `X-File-Name`, percent-encoded UTF-8."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from shared.contracts.errors import RequestRefused, invalid
from shared.contracts.files import FILE_NAME
from shared.files.errors import FileNameRefused
from shared.files.naming import clean_file_name

LONGEST: Final = 4096
"""Characters of the encoded name; what may be kept of it is decided when it is cleaned."""

_EXTENDED: Final = re.compile(r"utf-8'[A-Za-z0-9-]*'", re.IGNORECASE)
"""The prefix of RFC 8187, which may stand before the name."""

_NOT_ENCODED: Final = re.compile("%(?![0-9A-Fa-f]{2})")
"""A percent sign that begins no byte; the standard library would pass it over."""


def claimed_name(headers: Mapping[str, str]) -> str:
    """The name that the client gives the file; RequestRefused without one, or when it is not UTF-8."""
    sent = headers.get(FILE_NAME.lower(), "")
    if not sent:
        raise _refusal("MISSING", "Name the file in this header, percent-encoded")
    encoded = sent[match.end() :] if (match := _EXTENDED.match(sent)) else sent
    if len(encoded) > LONGEST or not encoded.isascii() or _NOT_ENCODED.search(encoded):
        raise _refusal("INVALID", "Must be percent-encoded UTF-8")
    try:
        return unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        raise _refusal("INVALID", "Must be percent-encoded UTF-8") from None


def file_name(headers: Mapping[str, str]) -> str:
    """The name that the file goes by; refused, with what is wrong, when the client has given none that can be kept."""
    try:
        return clean_file_name(claimed_name(headers))
    except FileNameRefused as refused:
        raise refused.given_in(FILE_NAME) from None


def _refusal(reason: str, message: str) -> RequestRefused:
    return invalid(FILE_NAME, reason, message)
