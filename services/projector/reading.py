"""Reads one stream in order, from the stored position on: one transaction a batch, with the position in it.

At every start and after every error the position is compared with the stream. If it names another stream,
everything is read again from the beginning, and the inbox drops what is known.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import TypeVar

import structlog
from sqlalchemy import Connection

from services.projector.rounds import heed_cancel
from shared.contracts.catalogue import Stream
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.positions import Position, load_position, move_position
from shared.domain.errors import StoreUnavailable
from shared.messaging.reader import EventReader
from shared.messaging.stream_state import StoredMessage, StreamLook

PAUSE = timedelta(milliseconds=200)
"""Between two attempts when the database or the broker is away."""

NOWHERE = Position(stream_created="", sequence=0, message_id=None)

log = structlog.get_logger()

T = TypeVar("T")

Take = Callable[[Sequence[StoredMessage]], Awaitable[None]]
"""Makes something of a batch that is not empty, and moves the position behind it."""


class PositionMoved(StoreUnavailable):
    """The stored position is not the one that this projector left: read it again."""


class Reading:
    """One reading of a stream, as long as the lease holds."""

    def __init__(
        self, database: Database, reader: EventReader, *, stream: Stream, guard: Callable[[Connection], None]
    ) -> None:
        self._database = database
        self._reader = reader
        self._stream = stream
        self._guard = guard
        self._position = NOWHERE

    async def run(self, take: Take) -> None:
        """Read until cancelled, LeaseLost, or what else `take` raises. What is away for a while is waited for."""
        while True:
            try:
                await self._agree_on_position()
                async with aclosing(self._reader.read(self._position.sequence)) as batches:
                    async for batch in batches:
                        heed_cancel()
                        if batch:
                            await take(batch)
            except LeaseLost:
                raise
            except StoreUnavailable as error:
                log.warning(
                    "projector.reading.ended",
                    stream=self._stream.value,
                    error=error.message,
                    sequence=self._position.sequence,
                )
                heed_cancel()
                await asyncio.sleep(PAUSE.total_seconds())

    @property
    def position(self) -> Position:
        """How far which stream is read."""
        return self._position

    async def write(self, last: StoredMessage, work: Callable[[Connection], T]) -> T:
        """Run `work` in the transaction that moves the position behind `last`."""
        expected = self._position
        then = Position(stream_created=expected.stream_created, sequence=last.sequence, message_id=last.message_id)

        def move_and_work(conn: Connection) -> T:
            self._move(conn, expected, then)
            return work(conn)

        made = await self._database.write(move_and_work)
        self._position = then
        return made

    async def _agree_on_position(self) -> None:
        look = await self._reader.look()
        stored = await self._database.read(lambda conn: load_position(conn, self._stream))
        if stored is not None and await self._is_of(look, stored):
            self._position = stored
            return
        begin = Position(stream_created=look.created, sequence=0, message_id=None)
        if stored is not None:
            log.warning(
                "projector.stream.replaced", stream=self._stream.value, was=stored.stream_created, now=look.created
            )
        await self._database.write(lambda conn: self._move(conn, stored, begin))
        self._position = begin

    async def _is_of(self, look: StreamLook, stored: Position) -> bool:
        """Whether the position was taken in this very stream: a power cut can roll a stream back."""
        if stored.stream_created != look.created or stored.sequence > look.last_sequence:
            return False
        if stored.sequence == 0 or stored.sequence < look.first_sequence:
            return True  # there is no message to compare: none was applied, or it has grown too old to be kept
        message = await self._reader.message_at(stored.sequence)
        return message is not None and message.message_id == stored.message_id

    def _move(self, conn: Connection, expected: Position | None, then: Position) -> None:
        self._guard(conn)
        if not move_position(conn, self._stream, expected, then):
            raise PositionMoved("Another projector has moved the position.")
