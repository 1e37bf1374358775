"""The pipe between a process and its children: frames of a JSON header and a body of bytes.

No pickles: a child reads hostile files, so nothing that it says may become code here.
"""

import asyncio
import struct
from typing import BinaryIO

_LENGTHS = struct.Struct("<II")
MAX_PART_BYTES = 1 << 29

Frame = tuple[bytes, bytes]
"""Header and body."""


class FrameBroken(Exception):
    """The other side ended, or sent what is no frame."""


def pack(header: bytes, body: bytes = b"") -> bytes:
    """One frame as it goes over the pipe."""
    return _LENGTHS.pack(len(header), len(body)) + header + body


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next frame, for the child's side; None when the parent has closed the pipe."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header, body = _LENGTHS.unpack(lengths)
    return stream.read(header), stream.read(body)


async def receive_frame(reader: asyncio.StreamReader) -> Frame:
    """The next frame, for the parent's side; FrameBroken when the child has ended or sends nonsense."""
    try:
        header, body = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
        if max(header, body) > MAX_PART_BYTES:
            raise FrameBroken("a frame beyond the limit")
        return await reader.readexactly(header), await reader.readexactly(body)
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        raise FrameBroken("the child ended") from error
