"""Stores what arrives of a file in parts, so that neither a lost connection nor a killed process loses much of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from starlette.requests import ClientDisconnect

from services.api.uploads.protocol import Checksum
from shared.contracts.errors import RequestRefused
from shared.files.errors import FileTooLarge
from shared.files.keys import new_object_key
from shared.files.store import MIB, FileStore

PART_BYTES: Final = 32 * MIB
"""A part is stored when it is so long or when nothing more comes: what a killed process loses at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One stored part."""

    object_key: str
    size: int


class Arriving:
    """The body of one request. Iterate `stored` to its end, then ask how it ended."""

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        *,
        room: int,
        length: int,
        checksum: Checksum | None,
        part_bytes: int = PART_BYTES,
    ) -> None:
        """`room` bytes are missing of a file of `length` bytes."""
        self._part_bytes = part_bytes
        self._chunks = chunks
        self._room = room
        self._length = length
        self._checksum = checksum
        self._hash = None if checksum is None else checksum.new_hash()
        self._head: bytes | None = None
        self._is_over = False
        self.failure: ClientDisconnect | RequestRefused | None = None
        """What ended the body too early: the connection was lost, or nothing more came for too long."""

    async def stored(self, store: FileStore) -> AsyncIterator[Piece]:
        """Store the body part by part. What has arrived before the body fails is stored like the rest.

        FileTooLarge when more comes than there is room for; the part that it would be in is not kept.
        """
        while await self._goes_on():
            key = new_object_key()
            found = await store.put_stream(key, self._part(), limit=self._length)
            yield Piece(object_key=key, size=found.size)

    def is_as_announced(self) -> bool:
        """Whether the whole body came to the client's checksum, if it gave one."""
        return self._hash is None or self._checksum is None or self._hash.digest() == self._checksum.digest

    async def _part(self) -> AsyncIterator[bytes]:
        taken = 0
        while taken < self._part_bytes and await self._goes_on():
            piece, self._head = self._head or b"", None
            taken += len(piece)
            self._room -= len(piece)
            if self._room < 0:
                raise FileTooLarge(self._length)
            if self._hash is not None:
                self._hash.update(piece)
            yield piece

    async def _goes_on(self) -> bool:
        """Whether there are more bytes; the next of them are at hand then."""
        if self._head is None and not self._is_over:
            try:
                self._head = await anext(self._chunks, None)
            except (ClientDisconnect, RequestRefused) as failure:
                self.failure = failure
            self._is_over = self._head is None
        return self._head is not None
