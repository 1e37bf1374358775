"""Publishes waiting commands, as many as each step's window has room for, tenants taking turns.

It publishes first and notes it afterwards. A crash in between publishes a command once more under the same
message id: the broker stores it, or says that it has it. The same goes for rows that the api was to publish.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from shared.contracts.enums import Step
from shared.database.database import Database
from shared.database.outbox import OutboxCommand, Publication, find_left_by_sender, mark_published
from shared.database.outbox_queue import count_open, steps_waiting, take_due
from shared.messaging.publisher import Publisher
from shared.outbox.sending import message_of, publications
from shared.outbox.windows import Windows
from shared.telemetry.stamps import Clock

LEFT_AFTER = timedelta(seconds=5)
"""A row that its sender was to publish, and has not closed, is taken over after this."""

SOURCE = "dispatcher"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """What one round did."""

    published: int
    unacknowledged: int
    room: Mapping[Step, int]
    """What is left of each window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatcher:
    """Publishes from the database into the commands stream. `guard` joins each transaction and holds the lease."""

    database: Database
    publisher: Publisher
    windows: Windows
    slots: Callable[[], Mapping[Step, int]]
    """What the workers have announced."""
    guard: Callable[[Connection], None]
    clock: Clock

    async def round(self) -> Dispatched:
        """One look at what is due, and its publication."""
        rows, room = await self.database.read(self._look)
        if not rows:
            return Dispatched(published=0, unacknowledged=0, room=room)
        answers = await self.publisher.publish_many([message_of(row, SOURCE) for row in rows])
        noted = publications(rows, answers, self.clock())
        if noted:
            await self.database.write(lambda conn: self._note(conn, noted))
        return Dispatched(published=len(noted), unacknowledged=len(rows) - len(noted), room=room)

    def _look(self, conn: Connection) -> tuple[list[OutboxCommand], dict[Step, int]]:
        now = self.clock()
        rows = find_left_by_sender(conn, now - LEFT_AFTER)
        room = self.windows.room(self.slots(), count_open(conn))
        for step in steps_waiting(conn):
            if room[step]:
                due = take_due(conn, step, limit=room[step], now=now)
                room[step] -= len(due)
                rows += due
        return rows, room

    def _note(self, conn: Connection, noted: list[Publication]) -> None:
        self.guard(conn)
        mark_published(conn, noted)
