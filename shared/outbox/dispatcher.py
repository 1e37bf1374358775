"""Publishes waiting commands, as many as each step's window has room for, tenants taking turns.

It publishes first and notes it afterwards. A crash in between publishes a command once more under the same
message id: the broker stores it, or says that it has it. The same goes for rows that the api was to publish.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from sqlalchemy import Connection

from shared.contracts.enums import Step
from shared.contracts.ids import OperationId
from shared.database.database import Database
from shared.database.outbox import OutboxCommand, Publication, find_left_by_sender, mark_published
from shared.database.outbox_queue import UNLIMITED, count_open, steps_waiting, take_due
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message
from shared.messaging.errors import StreamFull
from shared.messaging.publisher import Acked
from shared.outbox.pace import Pace
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
    """They are taken up again in the next round."""
    room: Mapping[Step, int]
    """How much of each window senders may fill themselves: none while anything that is due waits for its turn, and none
    when tenants have a limit, since only a look at the tables tells whether one has reached it."""
    cancelled: frozenset[OperationId] = frozenset()
    """The operations whose cancel went out."""
    is_full: bool = False
    """The stream took nothing more, so that what was not acknowledged waits for room in it."""


class Publishes(Protocol):
    """Puts messages into the commands stream; `messaging` satisfies it."""

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        """For each message its acknowledgement or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatcher:
    """Publishes from the database into the commands stream. `guard` joins each transaction and holds the lease."""

    database: Database
    publisher: Publishes
    windows: Windows
    slots: Callable[[], Mapping[Step, int]]
    """What the workers have announced."""
    guard: Callable[[Connection], None]
    clock: Clock
    most_per_tenant: int = UNLIMITED
    """Commands of one tenant and step that are out at once."""
    pace: Pace = field(default_factory=Pace)

    async def round(self) -> Dispatched:
        """One look at what is due, and its publication."""
        rows, room = await self.database.read(self._look)
        if not rows:
            return Dispatched(published=0, unacknowledged=0, room=room)
        answers = await self.publisher.publish_many([message_of(row, SOURCE) for row in rows])
        sent = [row for row, answer in zip(rows, answers, strict=True) if isinstance(answer, Acked)]
        self.pace.note(Counter(row.step for row in sent), self.clock())
        noted = publications(rows, answers, self.clock())
        if noted:
            await self.database.write(lambda conn: self._note(conn, noted))
        return Dispatched(
            published=len(noted),
            unacknowledged=len(rows) - len(noted),
            room=room,
            cancelled=_cancelled(sent),
            is_full=any(isinstance(answer, StreamFull) for answer in answers),
        )

    def _look(self, conn: Connection) -> tuple[list[OutboxCommand], dict[Step, int]]:
        now = self.clock()
        rows = find_left_by_sender(conn, now - LEFT_AFTER)
        room = self.windows.room(self.slots(), self.pace.per_second(now), count_open(conn))
        for step in steps_waiting(conn):
            due = take_due(conn, step, limit=room[step] + 1, now=now, most_per_tenant=self.most_per_tenant)
            rows += due[: room[step]]
            room[step] = max(0, room[step] - len(due))
        return rows, room if self.most_per_tenant == UNLIMITED else dict.fromkeys(room, 0)

    def _note(self, conn: Connection, noted: list[Publication]) -> None:
        self.guard(conn)
        mark_published(conn, noted)


def _cancelled(rows: Sequence[OutboxCommand]) -> frozenset[OperationId]:
    return frozenset(OperationId(row.owner_id) for row in rows if row.step is Step.CANCEL)
