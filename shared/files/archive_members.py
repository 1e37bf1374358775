"""The member names of a ZIP archive, read within bounds and without unpacking anything."""

import struct
from collections.abc import Iterator
from typing import BinaryIO

END_MAGIC = b"PK\x05\x06"
ENTRY_MAGIC = b"PK\x01\x02"
END = struct.Struct("<4s4H2LH")
ENTRY = struct.Struct("<4s6H3L5H2L")
LONGEST_COMMENT = 0xFFFF
MOST_DIRECTORY_BYTES = 4 * 1024**2
"""A document of ten thousand parts needs about one megabyte; a hostile directory may be as long as the file."""


class NotAnArchive(Exception):
    """The archive has no directory that can be read: it is truncated, damaged or not an archive."""


def member_names(view: BinaryIO) -> frozenset[str]:
    """The names in the archive's directory; NotAnArchive when there is none within the bounds."""
    size = view.seek(0, 2)
    tail_length = min(size, END.size + LONGEST_COMMENT)
    view.seek(size - tail_length)
    tail = view.read(tail_length)
    at = tail.rfind(END_MAGIC)
    if at < 0 or len(tail) - at < END.size:
        raise NotAnArchive
    _, _, _, _, _, directory_length, _, _ = END.unpack_from(tail, at)
    directory_start = size - tail_length + at - directory_length
    if directory_length > MOST_DIRECTORY_BYTES or directory_start < 0:
        raise NotAnArchive
    view.seek(directory_start)
    return frozenset(_names(view.read(directory_length)))


def _names(directory: bytes) -> Iterator[str]:
    at = 0
    while at < len(directory):
        if len(directory) - at < ENTRY.size or not directory.startswith(ENTRY_MAGIC, at):
            raise NotAnArchive
        fields = ENTRY.unpack_from(directory, at)
        name_length, extra_length, comment_length = fields[10:13]
        name_start = at + ENTRY.size
        yield directory[name_start : name_start + name_length].decode("utf-8", "replace")
        at = name_start + name_length + extra_length + comment_length
