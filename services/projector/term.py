"""One term as the active projector: everything that runs while the lease holds, and ends together with it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from services.projector.housekeeping import PIECE, Housekeeping
from services.projector.lease import Lease
from services.projector.metrics import ProjectorMetrics
from services.projector.projection import Projection
from services.projector.rounds import repeat
from services.projector.sealing import Sealing
from services.projector.settings import ProjectorSettings
from shared.contracts.catalogue import DispatchRoom
from shared.database.audit_chain import count_unsealed
from shared.database.database import Database
from shared.database.outbox_queue import UNLIMITED, measure_backlog
from shared.lifecycle.apply_events import Applied
from shared.lifecycle.interrupt_commands import interrupt_commands
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import SlotBoard, announce_room
from shared.messaging.cancellations import Cancellations
from shared.messaging.connection import Connection
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.stream_state import StreamStates
from shared.outbox.dispatcher import Dispatcher
from shared.outbox.recovery import Recovery
from shared.outbox.windows import Windows

MEASURE_EVERY = timedelta(seconds=2)
PURGES_EVERY = timedelta(seconds=1)
SEAL_EVERY = timedelta(milliseconds=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a term is made of; `main` makes it once."""

    settings: ProjectorSettings
    database: Database
    connection: Connection
    publisher: Publisher
    reader: EventReader
    board: SlotBoard
    around: Surroundings
    metrics: ProjectorMetrics
    declare: Callable[[], Awaitable[None]]
    """Makes streams and consumers that are missing: a broker may lose them while we run."""


@dataclass(slots=True)
class Term:
    """The loops of one term."""

    parts: Parts
    lease: Lease
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there may be something to dispatch."""

    async def run(self) -> None:
        """Run until cancelled, or until the lease is lost: then every loop is cancelled, and LeaseLost raised."""
        parts, settings = self.parts, self.parts.settings
        projection = Projection(
            parts.database, parts.reader, parts.around, guard=self.lease.guard, on_applied=self._applied
        )
        dispatcher, cancellations = self._dispatcher(), Cancellations(parts.connection)
        recovery = self._recovery(projection)
        chores = Housekeeping(
            database=parts.database, around=parts.around, guard=self.lease.guard, inbox_kept=settings.inbox_kept
        )
        sealing = Sealing(database=parts.database, guard=self.lease.guard, clock=parts.around.clock)
        async with asyncio.TaskGroup() as group:
            group.create_task(self.lease.keep())
            group.create_task(projection.run())
            group.create_task(
                repeat(
                    "dispatch",
                    partial(self._dispatch, dispatcher, cancellations),
                    every=settings.dispatch_interval,
                    wake=self.wake,
                )
            )
            group.create_task(repeat("recover", partial(self._recover, recovery), every=settings.recovery_interval))
            group.create_task(repeat("purge", partial(self._purge, chores), every=PURGES_EVERY))
            group.create_task(repeat("seal", sealing.round, every=SEAL_EVERY))
            group.create_task(repeat("declare", parts.declare, every=settings.declare_interval))
            group.create_task(repeat("sweep", chores.sweep, every=settings.housekeeping_interval))
            group.create_task(repeat("measure", partial(self._measure, projection), every=MEASURE_EVERY))

    def _dispatcher(self) -> Dispatcher:
        parts = self.parts
        return Dispatcher(
            database=parts.database,
            publisher=parts.publisher,
            windows=Windows(parts.settings.window),
            slots=parts.board.slots,
            guard=self.lease.guard,
            clock=parts.around.clock,
            most_per_tenant=parts.settings.tenant_running or UNLIMITED,
        )

    def _recovery(self, projection: Projection) -> Recovery:
        parts = self.parts
        return Recovery(
            database=parts.database,
            streams=StreamStates(parts.connection),
            clock=parts.around.clock,
            guard=self.lease.guard,
            position=lambda: projection.sequence,
            interrupt=lambda conn, rows: interrupt_commands(conn, rows, parts.around),
        )

    def _applied(self, applied: Applied) -> None:
        self.parts.metrics.applied(applied)
        if applied.applied:
            self.wake.set()

    async def _dispatch(self, dispatcher: Dispatcher, cancellations: Cancellations) -> None:
        """Workers are told of cancels beside the commands, so that they stop early."""
        dispatched = await dispatcher.round()
        self.parts.metrics.published(dispatched.published)
        await announce_room(self.parts.connection, DispatchRoom(room=dict(dispatched.room)))
        for operation in dispatched.cancelled:
            await cancellations.announce(operation)

    async def _recover(self, recovery: Recovery) -> None:
        lost = await recovery.round()
        self.parts.metrics.lost(lost)
        if lost:
            self.wake.set()

    async def _purge(self, chores: Housekeeping) -> None:
        """All that is due, piece by piece: who comes meanwhile has a turn in the next piece."""
        settled = PIECE
        while settled == PIECE:
            settled = await chores.issue_due_purges()
            if settled:
                self.wake.set()

    async def _measure(self, projection: Projection) -> None:
        parts = self.parts
        now = parts.around.clock()
        backlog = await parts.database.read(lambda conn: measure_backlog(conn, now))
        parts.metrics.measured(backlog, parts.board.workers, now)
        parts.metrics.unsealed(await parts.database.read(count_unsealed))
        look = await parts.reader.look()
        parts.metrics.lagging(max(0, look.last_sequence - projection.sequence))
