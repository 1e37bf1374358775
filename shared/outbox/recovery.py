"""Finds commands whose message is gone and which no event answers: a broker may lose everything.

A command is lost when its stream is another one; or when its message is gone and the projector has since come past
everything that the events stream held when that was seen, so no answer is on its way. It then waits to be published
again, under a new message id. Each such publication counts as a crash: the fourth time we answer in the worker's stead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from shared.contracts.catalogue import Stream
from shared.database.database import Database
from shared.database.dead_letters import stuck_owners
from shared.database.outbox import OutboxCommand, find_commands, find_published, mark_gone, raise_publication
from shared.messaging.stream_state import StreamStates
from shared.telemetry.stamps import Clock

PUBLICATIONS = 3
"""So often a command is published at most; after that it is interrupted(crash)."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Looks after published commands.

    `position` tells how far the events stream is applied; `interrupt` answers commands in the worker's stead.
    """

    database: Database
    states: StreamStates
    clock: Clock
    guard: Callable[[Connection], None]
    position: Callable[[], int]
    interrupt: Callable[[Connection, Sequence[OutboxCommand]], object]

    async def round(self) -> int:
        """One look at every command that is out; how many were found lost."""
        rows = await self.database.read(find_published)
        if not rows:
            return 0
        stream = (await self.states.look(Stream.COMMANDS)).created
        elsewhere = [row for row in rows if row.stream_created != stream]
        gone = [row for row in rows if row.stream_created == stream and await self._is_gone(row)]
        await self._note_gone([row for row in gone if row.gone_after is None])
        position = self.position()
        lost = elsewhere + [row for row in gone if row.gone_after is not None and position >= row.gone_after]
        if lost:
            await self.database.write(lambda conn: self._recover(conn, lost))
        return len(lost)

    async def _is_gone(self, row: OutboxCommand) -> bool:
        return row.sequence is not None and not await self.states.holds(Stream.COMMANDS, row.sequence)

    async def _note_gone(self, rows: Sequence[OutboxCommand]) -> None:
        """Note up to which event an answer may still come; read after the messages were found gone."""
        if not rows:
            return
        last = (await self.states.look(Stream.EVENTS)).last_sequence

        def note(conn: Connection) -> None:
            self.guard(conn)
            mark_gone(conn, rows, last)

        await self.database.write(note)

    def _recover(self, conn: Connection, lost: Sequence[OutboxCommand]) -> None:
        """Only what is still open, for a terminal event may have closed a row since we looked, and is not stuck."""
        self.guard(conn)
        seen = {(row.command_id, row.publication) for row in lost}
        owners = {row.owner_id for row in lost}
        owners -= stuck_owners(conn, owners)
        still = [row for row in find_commands(conn, owners) if (row.command_id, row.publication) in seen]
        for row in still:
            log.warning("outbox.command.lost", command=row.command_id, publication=row.publication)
        raise_publication(conn, [row for row in still if row.publication < PUBLICATIONS], self.clock())
        self.interrupt(conn, [row for row in still if row.publication >= PUBLICATIONS])
