"""Finds commands whose message is gone and which no event answers: a broker may lose everything.

A command is lost when its stream is another one or its message is gone, and the projector has since come past
everything that the events stream held when that was seen, so no answer is on its way. It then waits to be published
again, under a new message id. Each such publication counts as a crash: the fourth time we answer in the worker's stead.
Nothing is published again of an operation that has ended: that is answered at once.

A message that was delivered as often as it may be stays in the stream, and nobody gets it any more. The broker says so
once (the projector reads that), unless it fell just then. So such messages are looked for here as well: one that is
still there although its consumer has done with it is deleted, and its command answered as a crash.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

import structlog
from sqlalchemy import Connection

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.database.database import Database
from shared.database.dead_letters import stuck_owners
from shared.database.operations import find_ended
from shared.database.outbox import OutboxCommand, find_commands, find_published, mark_gone, raise_publication
from shared.database.positions import Position
from shared.domain.errors import Transient
from shared.messaging.codec import command_message_id
from shared.messaging.stream_state import ConsumerProgress, StoredMessage, StreamLook
from shared.telemetry.stamps import Clock

PUBLICATIONS = 3
"""So often a command is published at most; after that it is interrupted(crash)."""

log = structlog.get_logger()


class Streams(Protocol):
    """What the broker is asked; `messaging` satisfies it."""

    async def look(self, stream: str) -> StreamLook:
        """Which stream it is and how far it goes."""

    async def message_at(self, stream: str, sequence: int) -> StoredMessage | None:
        """The message with this sequence, or None when it is not there."""

    async def progress(self, stream: str, consumer: str) -> ConsumerProgress | None:
        """How far a consumer has come, or None when there is no such consumer."""

    async def delete(self, stream: str, sequence: int) -> bool:
        """Remove the message with this sequence; False when it was not there."""


class Whereabouts(Enum):
    """Where the message of a published command is."""

    THERE = auto()
    """In the stream, for a worker or with one."""
    GONE = auto()
    STRANDED = auto()
    """In the stream, and nobody will get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Looks after published commands.

    `position` tells how far the events stream is applied; `interrupt` answers commands in the worker's stead.
    """

    database: Database
    streams: Streams
    clock: Clock
    guard: Callable[[Connection], None]
    position: Callable[[], Position]
    interrupt: Callable[[Connection, Sequence[OutboxCommand]], object]

    async def round(self) -> int:
        """One look at every command that is out; how many were lost and are taken care of now."""
        rows = await self.database.read(find_published)
        if not rows:
            return 0
        stream = (await self.streams.look(Stream.COMMANDS)).created
        consumers = await self._consumers({row.step for row in rows})
        found = [(row, await self._whereabouts(row, stream, consumers[row.step])) for row in rows]
        lost = await self._unanswered([row for row, where in found if where is not Whereabouts.THERE])
        if not lost:
            return 0
        stranded = {row.command_id for row, where in found if where is Whereabouts.STRANDED and row in lost}
        await self._delete([row for row in lost if row.command_id in stranded])
        return await self._recover(lost, stranded)

    async def _consumers(self, steps: set[Step]) -> Mapping[Step, ConsumerProgress | None]:
        return {step: await self.streams.progress(Stream.COMMANDS, durable_name(step)) for step in steps}

    async def _whereabouts(self, row: OutboxCommand, stream: str, consumer: ConsumerProgress | None) -> Whereabouts:
        """Its place may hold another message: a power cut rolls a stream back, and its sequences are given again.

        The consumer was looked at first: an answer that came in between has taken the message away by now.
        """
        if row.sequence is None:
            return Whereabouts.THERE
        if row.stream_created != stream:
            return Whereabouts.GONE
        message = await self.streams.message_at(Stream.COMMANDS, row.sequence)
        if message is None or message.message_id != command_message_id(row.command_id, row.publication):
            return Whereabouts.GONE
        is_stranded = consumer is not None and consumer.has_done_with(row.sequence)
        return Whereabouts.STRANDED if is_stranded else Whereabouts.THERE

    async def _delete(self, stranded: Sequence[OutboxCommand]) -> None:
        """Before they are answered: should we fall in between, their messages are gone, and that is found as well."""
        for row in stranded:
            if row.sequence is not None:
                log.warning("outbox.command.stranded", command=row.command_id, sequence=row.sequence)
                await self.streams.delete(Stream.COMMANDS, row.sequence)

    async def _unanswered(self, gone: Sequence[OutboxCommand]) -> list[OutboxCommand]:
        """Those whose answer would have been applied by now; for the others, note up to which event one may still come.

        The stream's end is read after the messages were found gone. A note that lies behind it is of another stream.
        """
        if not gone:
            return []
        look, position = await self.streams.look(Stream.EVENTS), self.position()
        last = look.last_sequence
        await self._note_gone([row for row in gone if row.gone_after is None or row.gone_after > last], last)
        if position.stream_created != look.created:
            return []  # the projector has not noticed yet that it is another stream, and has read nothing of it
        applied = min(position.sequence, last)
        return [row for row in gone if row.gone_after is not None and row.gone_after <= applied]

    async def _note_gone(self, rows: Sequence[OutboxCommand], last: int) -> None:
        if not rows:
            return

        def note(conn: Connection) -> None:
            self.guard(conn)
            mark_gone(conn, rows, last)

        await self.database.write(note)

    async def _recover(self, lost: Sequence[OutboxCommand], stranded: Collection[str]) -> int:
        """All together, or, when that fails, each alone: one that cannot be recovered must not hold up the rest."""
        try:
            return await self.database.write(lambda conn: self._publish_again(conn, lost, stranded))
        except Transient:
            raise
        except Exception:
            log.exception("outbox.recovery.failed", commands=len(lost))
        return sum([await self._recover_alone(row, stranded) for row in lost])

    async def _recover_alone(self, row: OutboxCommand, stranded: Collection[str]) -> int:
        try:
            return await self.database.write(lambda conn: self._publish_again(conn, [row], stranded))
        except Transient:
            raise
        except Exception:
            log.exception("outbox.command.not_recovered", command=row.command_id)
            return 0

    def _publish_again(self, conn: Connection, lost: Sequence[OutboxCommand], stranded: Collection[str]) -> int:
        """Only what is still open, for a terminal event may have closed a row since we looked, and is not stuck."""
        self.guard(conn)
        seen = {(row.command_id, row.publication) for row in lost}
        owners = {row.owner_id for row in lost}
        owners -= stuck_owners(conn, owners)
        still = [row for row in find_commands(conn, owners) if (row.command_id, row.publication) in seen]
        for row in still:
            log.warning("outbox.command.lost", command=row.command_id, publication=row.publication)
        ended = find_ended(conn, owners)
        given_up = [
            row
            for row in still
            if row.publication >= PUBLICATIONS or row.owner_id in ended or row.command_id in stranded
        ]
        raise_publication(conn, [row for row in still if row not in given_up], self.clock())
        self.interrupt(conn, given_up)
        return len(still)
