"""Takes one delivery from its arrival to its settlement: read, work, answer, acknowledge."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import structlog

from services.worker.dead_letters import bury
from services.worker.delivery import Delivery
from services.worker.hands import Hand, Hands, Stop
from services.worker.heartbeat import Heartbeat, Lease
from services.worker.metrics import WorkerMetrics
from services.worker.outcomes import Failed, Fenced, Interrupted, Outcome, outcome_of
from services.worker.reporting import Publishes, Reporter
from services.worker.steps.table import CANCELLABLE
from services.worker.workshop import Job, Workshop
from shared.contracts.commands import COMMAND_BY_STEP, AnyCommand, VersionCommand
from shared.contracts.enums import FailureReason, InterruptReason, Step
from shared.contracts.ids import CommandId, OperationId, TenantId
from shared.domain.errors import KnowgateError, StoreUnavailable
from shared.messaging.codec import SCHEMA, TRACEPARENT, Schema, read_command, sender_of
from shared.messaging.errors import NewerMessage, UnreadableMessage
from shared.messaging.watchdog import Activity
from shared.telemetry.stamps import Clock

log = structlog.get_logger()

LAST_DELIVERY = 4
"""Three workers have died over it: this one only says so."""
ANSWER_AGAIN_AFTER = timedelta(milliseconds=500)
RUN_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """Handles deliveries, many at once."""

    workshop: Workshop
    publisher: Publishes
    heartbeat: Heartbeat
    hands: Hands
    activity: Activity
    metrics: WorkerMetrics
    clock: Clock
    progress_every: timedelta
    schema: Schema = SCHEMA
    """What this release reads and writes."""
    hand_back_after: timedelta = timedelta(seconds=1)
    """A command of a newer release is kept for so long, for it may come to the same worker again."""

    async def take(self, step: Step, delivery: Delivery) -> None:
        """Handle one delivery. What goes wrong here leaves it unsettled: it is delivered again."""
        began = time.monotonic()
        self.activity.began(step)
        self.metrics.began(step, delivery.number)
        sender = sender_of(delivery.headers)
        with structlog.contextvars.bound_contextvars(
            command_id=sender.command_id, tenant_id=sender.tenant_id, delivery=delivery.number
        ):
            try:
                await self._handle(step, delivery)
            except StoreUnavailable as error:
                log.warning("worker.delivery.unsettled", error=error.message)
            except Exception:
                log.exception("worker.delivery.crashed")
            finally:
                self.activity.ended(step)
                self.metrics.ended(step, timedelta(seconds=time.monotonic() - began))

    async def _handle(self, step: Step, delivery: Delivery) -> None:
        try:
            command, command_id = _read(step, delivery, self.schema)
        except UnreadableMessage as error:
            await self._refuse(step, delivery, error)
            return
        except NewerMessage as error:
            await self._hand_back(step, delivery, error)
            return
        reporter = self._reporter(command_id, command.tenant_id, delivery)
        operation = command.operation_id if step in CANCELLABLE and isinstance(command, VersionCommand) else None
        with self._held(delivery, command_id, operation) as (hand, lease):
            job = Job(command=command, step=step, hand=hand, lease=lease, reporter=reporter)
            await self._settle(step, delivery, reporter, lease, self._outcome(job, delivery))

    async def _hand_back(self, step: Step, delivery: Delivery, newer: NewerMessage) -> None:
        """Leave a command that only a newer release can read, uncounted, to a worker that is upgraded."""
        log.warning("worker.command.newer", step=step.value, error=newer.message)
        self.metrics.newer(step)
        command_id = CommandId.parse(newer.command_id)
        reporter = self._reporter(command_id, newer.tenant_id, delivery)
        with self._held(delivery, command_id, None) as (hand, lease):
            await self._settle(step, delivery, reporter, lease, self._kept_for_a_while(hand))

    async def _kept_for_a_while(self, hand: Hand) -> Outcome:
        await asyncio.wait((hand.told,), timeout=self.hand_back_after.total_seconds())
        return Interrupted(InterruptReason.SHUTDOWN)

    @contextmanager
    def _held(
        self, delivery: Delivery, command_id: CommandId, operation: OperationId | None
    ) -> Iterator[tuple[Hand, Lease]]:
        """Keep a delivery in a hand of its own, with its heartbeat."""
        with (
            self.hands.take(command_id, operation) as hand,
            self.heartbeat.hold(delivery, lambda: hand.tell(Stop.LOST)) as lease,
        ):
            yield hand, lease

    async def _settle(
        self, step: Step, delivery: Delivery, reporter: Reporter, lease: Lease, working: Awaitable[Outcome]
    ) -> None:
        """Answer by what the work comes to, unless somebody else may have the command by then."""
        try:
            outcome = await working
            await self._answer(outcome, reporter, lease)
        except Fenced:
            log.warning("worker.delivery.fenced")
            self.metrics.fenced(step)
            return
        self.metrics.answered(step, outcome)
        await delivery.ack()

    async def _outcome(self, job: Job, delivery: Delivery) -> Outcome:
        """How the work ends. An unknown error is a bug: logged with all it has, and answered as one."""
        if delivery.number >= LAST_DELIVERY:
            log.warning("worker.command.given_back", deliveries=delivery.number)
            return Interrupted(InterruptReason.CRASH)
        try:
            outcome, error = await self.workshop.work(job), ""
        except Fenced:
            raise
        except KnowgateError as known:
            outcome, error = outcome_of(known), repr(known)
        except Exception:
            log.exception("worker.step.crashed")
            return Failed(FailureReason.INTERNAL_ERROR)
        if isinstance(outcome, Failed):
            log.warning("worker.step.failed", reason=outcome.reason.value, error=error)
        return outcome

    async def _answer(self, outcome: Outcome, reporter: Reporter, lease: Lease) -> None:
        """Publish the last word, for as long as nobody else has the command."""
        word = reporter.last_word(outcome)
        while True:
            lease.expire()
            if lease.is_lost:
                raise Fenced
            try:
                await reporter.send(word)
            except StoreUnavailable as error:
                log.warning("worker.answer.delayed", error=error.message)
                await asyncio.sleep(ANSWER_AGAIN_AFTER.total_seconds())
            else:
                return

    async def _refuse(self, step: Step, delivery: Delivery, error: UnreadableMessage) -> None:
        """Keep a copy, answer by what the headers tell, and never deliver it again."""
        log.error("worker.command.unreadable", step=step.value, error=error.message)
        await bury(self.publisher, delivery, error.message)
        sender = error.sender
        if sender.command_id is not None and sender.tenant_id is not None:
            reporter = self._reporter(CommandId.parse(sender.command_id), sender.tenant_id, delivery)
            await reporter.send(reporter.last_word(Failed(FailureReason.MESSAGE_UNREADABLE)))
        self.metrics.unreadable(step)
        await delivery.terminate()

    def _reporter(self, command: CommandId, tenant: TenantId, delivery: Delivery) -> Reporter:
        return Reporter(
            self.publisher,
            command,
            tenant,
            run=secrets.token_hex(RUN_BYTES),
            traceparent=delivery.headers.get(TRACEPARENT),
            clock=self.clock,
            progress_every=self.progress_every,
            schema=self.schema,
        )


def _read(step: Step, delivery: Delivery, schema: Schema) -> tuple[AnyCommand, CommandId]:
    """The command of a delivery, which must be one of the step under whose name it came."""
    command = read_command(delivery.body, delivery.headers, schema)
    try:
        command_id = CommandId.parse(command.command_id)
    except ValueError as error:
        raise UnreadableMessage("its id is none", sender_of(delivery.headers)) from error
    if command_id.step is not step or not isinstance(command, COMMAND_BY_STEP[step]):
        raise UnreadableMessage("it belongs to another step", sender_of(delivery.headers))
    return command, command_id
