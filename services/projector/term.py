"""One term as the active projector: everything that runs while the lease holds, and ends together with it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import structlog

from services.projector.checkpoints import Checkpoints, Signing
from services.projector.dead_letters import DeadLetters
from services.projector.housekeeping import PIECE, Housekeeping
from services.projector.lease import Lease
from services.projector.metrics import ProjectorMetrics
from services.projector.projection import Projection
from services.projector.publishing import Publishing
from services.projector.reading import Reading
from services.projector.reconciling import Eyes, Reconciling
from services.projector.replay import Replay
from services.projector.rounds import repeat
from services.projector.sealing import Sealing
from services.projector.settings import ProjectorSettings
from shared.contracts.catalogue import DispatchRoom, Stream
from shared.database.audit_chain import count_unsealed
from shared.database.database import Database
from shared.database.dead_letters import count_unsettled
from shared.database.outbox_queue import UNLIMITED, measure_backlog
from shared.database.unfinished import overdue_operations
from shared.lifecycle.apply_events import Applied
from shared.lifecycle.interrupt_commands import interrupt_commands
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import SlotBoard, announce_room
from shared.messaging.cancellations import Cancellations
from shared.messaging.codec import SCHEMA, Schema
from shared.messaging.connection import Connection
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.stream_state import StreamStates
from shared.outbox.dispatcher import Dispatched, Dispatcher
from shared.outbox.recovery import Recovery
from shared.outbox.windows import Windows

log = structlog.get_logger()

MEASURE_EVERY = timedelta(seconds=2)
PURGES_EVERY = timedelta(seconds=1)
REPLAY_EVERY = timedelta(seconds=1)
SEAL_EVERY = timedelta(milliseconds=200)
PUBLISH_AUDIT_EVERY = timedelta(milliseconds=200)
RECONCILE_LOOK_EVERY = timedelta(seconds=1)


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
    eyes: Eyes
    """What reconciliations look at."""
    signing: Signing | None = None
    """How checkpoints of the audit are signed; None: not at all."""
    schema: Schema = SCHEMA
    """What this release can read."""


@dataclass(slots=True)
class Term:
    """The loops of one term."""

    parts: Parts
    lease: Lease
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there may be something to dispatch."""
    _is_full: bool = False
    """The command stream took nothing more when it was last tried."""

    async def run(self) -> None:
        """Run until cancelled, or until the lease is lost: then every loop is cancelled, and LeaseLost raised."""
        parts, settings = self.parts, self.parts.settings
        projection = Projection(
            reading=self._reading(Stream.EVENTS), around=parts.around, on_applied=self._applied, schema=parts.schema
        )
        dispatcher, cancellations = self._dispatcher(), Cancellations(parts.connection)
        recovery = self._recovery(projection)
        chores = Housekeeping(
            database=parts.database,
            around=parts.around,
            guard=self.lease.guard,
            inbox_kept=settings.inbox_kept,
            reconciliations_kept=settings.reconciliations_kept,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(self.lease.keep())
            group.create_task(projection.run())
            group.create_task(self._dead_letters().run())
            group.create_task(repeat("replay", self._replay().round, every=REPLAY_EVERY))
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
            self._keep_audit(group)
            group.create_task(repeat("declare", parts.declare, every=settings.declare_interval))
            group.create_task(repeat("sweep", chores.sweep, every=settings.housekeeping_interval))
            group.create_task(repeat("reconcile", self._reconciling().round, every=RECONCILE_LOOK_EVERY))
            group.create_task(repeat("measure", partial(self._measure, projection), every=MEASURE_EVERY))

    def _reading(self, stream: Stream) -> Reading:
        parts = self.parts
        return Reading(parts.database, parts.reader.of(stream), stream=stream, guard=self.lease.guard)

    def _dead_letters(self) -> DeadLetters:
        return DeadLetters(
            reading=self._reading(Stream.DEADLETTERS),
            database=self.parts.database,
            streams=StreamStates(self.parts.connection),
            around=self.parts.around,
            guard=self.lease.guard,
        )

    def _replay(self) -> Replay:
        return Replay(
            database=self.parts.database,
            around=self.parts.around,
            guard=self.lease.guard,
            on_applied=self._applied,
            schema=self.parts.schema,
        )

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
            position=lambda: projection.reading.position,
            interrupt=lambda conn, rows: interrupt_commands(conn, rows, parts.around),
        )

    def _reconciling(self) -> Reconciling:
        parts, settings = self.parts, self.parts.settings
        return Reconciling(
            database=parts.database,
            around=parts.around,
            guard=self.lease.guard,
            eyes=parts.eyes,
            every=settings.reconcile_interval,
            settled_after=settings.reconcile_settled_after,
            since=parts.around.clock(),
            on_ended=parts.metrics.reconciled,
        )

    def _keep_audit(self, group: asyncio.TaskGroup) -> None:
        """Seal, publish and sign what is written to the audit."""
        parts, publishing = self.parts, self._publishing()
        sealing = Sealing(
            database=parts.database, guard=self.lease.guard, clock=parts.around.clock, on_sealed=publishing.grown
        )
        checkpoints = None if parts.signing is None else self._checkpoints(parts.signing, publishing)
        group.create_task(repeat("seal", sealing.round, every=SEAL_EVERY))
        group.create_task(repeat("publish_audit", publishing.round, every=PUBLISH_AUDIT_EVERY))
        if checkpoints is not None:
            group.create_task(repeat("sign_audit", checkpoints.round, every=checkpoints.signing.every))
        measure = partial(self._measure_audit, publishing, checkpoints)
        group.create_task(repeat("measure_audit", measure, every=MEASURE_EVERY))

    def _publishing(self) -> Publishing:
        parts = self.parts
        return Publishing(
            database=parts.database,
            connection=parts.connection,
            publisher=parts.publisher,
            guard=self.lease.guard,
        )

    def _checkpoints(self, signing: Signing, publishing: Publishing) -> Checkpoints:
        return Checkpoints(
            database=self.parts.database,
            signing=signing,
            guard=self.lease.guard,
            clock=self.parts.around.clock,
            on_signed=publishing.signed,
        )

    def _applied(self, applied: Applied) -> None:
        self.parts.metrics.applied(applied)
        if applied.applied:
            self.wake.set()

    async def _dispatch(self, dispatcher: Dispatcher, cancellations: Cancellations) -> None:
        """Workers are told of cancels beside the commands, so that they stop early."""
        dispatched = await dispatcher.round()
        self.parts.metrics.published(dispatched.published)
        self._note_left(dispatched)
        await announce_room(self.parts.connection, DispatchRoom(room=dict(dispatched.room)))
        for operation in dispatched.cancelled:
            await cancellations.announce(operation)

    def _note_left(self, dispatched: Dispatched) -> None:
        """A stream that is full is told once, and once more when it has room again."""
        self.parts.metrics.left(dispatched.unacknowledged, is_full=dispatched.is_full)
        if dispatched.is_full and not self._is_full:
            log.error("projector.stream.full", stream=Stream.COMMANDS.value, waiting=dispatched.unacknowledged)
        if self._is_full and dispatched.published and not dispatched.is_full:
            log.info("projector.stream.has_room", stream=Stream.COMMANDS.value)
        self._is_full = dispatched.is_full or (self._is_full and not dispatched.published)

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
        parts.metrics.unsettled(await parts.database.read(count_unsettled))
        still_before = now - parts.around.settings.overdue_after
        _, overdue = await parts.database.read(
            lambda conn: overdue_operations(conn, None, still_before=still_before, limit=0)
        )
        parts.metrics.overdue(overdue)
        look = await parts.reader.look()
        parts.metrics.lagging(max(0, look.last_sequence - projection.reading.position.sequence))

    async def _measure_audit(self, publishing: Publishing, checkpoints: Checkpoints | None) -> None:
        metrics = self.parts.metrics
        metrics.unsealed(await self.parts.database.read(count_unsealed))
        metrics.audited(publishing.unpublished, None if checkpoints is None else checkpoints.age)
