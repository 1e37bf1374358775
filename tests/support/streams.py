"""Byte streams as an upload would bring them."""

from collections.abc import AsyncIterator


async def stream(*chunks: bytes) -> AsyncIterator[bytes]:
    """The chunks, one after the other."""
    for chunk in chunks:
        yield chunk


async def broken_stream(*chunks: bytes, error: Exception) -> AsyncIterator[bytes]:
    """The chunks, and then the error in place of an end."""
    for chunk in chunks:
        yield chunk
    raise error


async def collect(chunks: AsyncIterator[bytes]) -> bytes:
    """Everything that a stream yields."""
    return b"".join([chunk async for chunk in chunks])
