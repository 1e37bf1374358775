"""Reads the events stream in order and applies it: one transaction a batch, with the position in it.

At every start and after every error the position is compared with the stream. If it names another stream,
everything is read again from the beginning, and the inbox drops what is known.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import timedelta

import structlog
from sqlalchemy import Connection

from services.projector.letters import Letter, bury
from services.projector.rounds import heed_cancel
from shared.contracts.catalogue import Stream
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.positions import Position, load_position, move_position
from shared.domain.errors import StoreUnavailable
from shared.lifecycle.apply_events import Applied, ReceivedEvent, apply_events
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import TRACEPARENT, read_event
from shared.messaging.errors import UnreadableMessage
from shared.messaging.reader import EventReader
from shared.messaging.stream_state import StoredMessage, StreamLook

FAILURES_OF_ITS_OWN = 3
"""So often an event may fail when it is applied alone; then it is a dead letter."""

PAUSE = timedelta(milliseconds=200)
"""Between two attempts when the database or the broker is away."""

log = structlog.get_logger()


class PositionMoved(StoreUnavailable):
    """The stored position is not the one that this projector left: read it again."""


class Projection:
    """One reading of the events stream, as long as the lease holds."""

    def __init__(
        self,
        database: Database,
        reader: EventReader,
        around: Surroundings,
        *,
        guard: Callable[[Connection], None],
        on_applied: Callable[[Applied], None],
    ) -> None:
        self._database = database
        self._reader = reader
        self._around = around
        self._guard = guard
        self._on_applied = on_applied
        self._position = Position(stream_created="", sequence=0, message_id=None)

    async def run(self) -> None:
        """Project until cancelled or LeaseLost. What is away for a while is waited for."""
        while True:
            try:
                await self._agree_on_position()
                async with aclosing(self._reader.read(self._position.sequence)) as batches:
                    async for batch in batches:
                        heed_cancel()
                        if batch:
                            await self._apply(batch)
            except LeaseLost:
                raise
            except StoreUnavailable as error:
                log.warning("projector.reading.ended", error=error.message, sequence=self._position.sequence)
                heed_cancel()
                await asyncio.sleep(PAUSE.total_seconds())

    @property
    def sequence(self) -> int:
        """How far the stream is applied."""
        return self._position.sequence

    async def _agree_on_position(self) -> None:
        look = await self._reader.look()
        stored = await self._database.read(lambda conn: load_position(conn, Stream.EVENTS))
        if stored is not None and await self._is_of(look, stored):
            self._position = stored
            return
        begin = Position(stream_created=look.created, sequence=0, message_id=None)
        if stored is not None:
            log.warning("projector.stream.replaced", was=stored.stream_created, now=look.created)
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
        if not move_position(conn, Stream.EVENTS, expected, then):
            raise PositionMoved("Another projector has moved the position.")

    async def _apply(self, batch: Sequence[StoredMessage]) -> None:
        """The whole batch, or, when it fails, each event alone."""
        try:
            await self._apply_together(batch)
        except (StoreUnavailable, LeaseLost):
            raise
        except Exception:
            log.exception("projector.batch.failed", events=len(batch), sequence=batch[-1].sequence)
            for message in batch:
                await self._apply_alone(message)

    async def _apply_together(self, batch: Sequence[StoredMessage]) -> None:
        readable, letters = _read(batch)
        then = self._after(batch[-1])

        def apply(conn: Connection) -> Applied:
            self._move(conn, self._position, then)
            bury(conn, letters, self._around)
            return apply_events(conn, readable, self._around)

        applied = await self._database.write(apply)
        self._position = then
        self._on_applied(applied)

    async def _apply_alone(self, message: StoredMessage) -> None:
        """An event that fails by itself again and again must not hold up the rest."""
        error: Exception | None = None
        for failures in range(1, FAILURES_OF_ITS_OWN + 1):
            try:
                await self._apply_together([message])
            except (StoreUnavailable, LeaseLost):
                raise
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is this event's, and it is kept
                error = failure
                log.warning("projector.event.failed", subject=message.subject, failures=failures, error=repr(failure))
            else:
                return
        await self._give_up(message, repr(error))

    async def _give_up(self, message: StoredMessage, error: str) -> None:
        then = self._after(message)

        def bury_it(conn: Connection) -> None:
            self._move(conn, self._position, then)
            bury(conn, [Letter(message=message, error=error)], self._around)

        await self._database.write(bury_it)
        self._position = then

    def _after(self, message: StoredMessage) -> Position:
        return Position(
            stream_created=self._position.stream_created, sequence=message.sequence, message_id=message.message_id
        )


def _read(batch: Sequence[StoredMessage]) -> tuple[list[ReceivedEvent], list[Letter]]:
    """The events of a batch, and what cannot be read."""
    readable, letters = [], []
    for message in batch:
        try:
            event = read_event(message.body, message.headers)
        except UnreadableMessage as error:
            letters.append(Letter(message=message, error=error.message))
        else:
            readable.append(ReceivedEvent(event, message.headers.get(TRACEPARENT)))
    return readable, letters
