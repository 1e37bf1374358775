"""Byte ranges (RFC 9110, 14): one range of a file, or all of it."""

import re
from dataclasses import dataclass
from typing import Final

from shared.files.store import ByteSpan

_ONE_RANGE: Final = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """The range lies outside of the file."""


def wanted_span(header: str | None, if_range: str | None, etag: str, size: int) -> ByteSpan | Unsatisfiable | None:
    """The span that a request asks for; None for the whole file.

    A header that is not one plain range is as good as none, and so is one for another state of the file (`If-Range`).
    """
    found = None if header is None else _ONE_RANGE.fullmatch(header)
    if found is None or (if_range is not None and if_range != etag):
        return None
    first, last = found.groups()
    if first == "":
        return _last_bytes(int(last), size) if last else None
    start, end = int(first), min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    return ByteSpan(start, end + 1) if start < size else Unsatisfiable()


def _last_bytes(count: int, size: int) -> ByteSpan | Unsatisfiable:
    return ByteSpan(max(0, size - count), size) if count and size else Unsatisfiable()
