"""Counts and hashes a stream of bytes on its way, and stops it at a limit."""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator

from shared.files.errors import FileTooLarge


class MeasuredStream:
    """The same bytes again, measured. Iterate it once, to its end, then read `size` and `sha256()`."""

    def __init__(self, chunks: AsyncIterable[bytes], limit: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._hash = hashlib.sha256()
        self.size = 0
        """Bytes that came through."""
        self.failure: Exception | None = None
        """What ended the stream early, kept because a library in between may change it."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Pass the bytes on; FileTooLarge as soon as there are more than the limit."""
        try:
            async for chunk in self._chunks:
                self.size += len(chunk)
                if self.size > self._limit:
                    raise FileTooLarge(self._limit)
                self._hash.update(chunk)
                yield chunk
        except Exception as error:
            self.failure = error
            raise

    def sha256(self) -> str:
        """The hexadecimal SHA-256 of what came through."""
        return self._hash.hexdigest()
