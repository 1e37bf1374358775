"""Runs the step of one command to its outcome, unless something more urgent comes first.

What comes first: the delivery is lost, the process shuts down, the operation is cancelled, the time is up.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import structlog

from services.worker.cancelled import CancelledOperations
from services.worker.fencing import FencedFiles, FencedWrites, ObjectRemover
from services.worker.hands import Hand, Stop
from services.worker.heartbeat import Lease
from services.worker.outcomes import Cancelled, Failed, Fenced, Interrupted, Outcome
from services.worker.reporting import Reporter
from services.worker.steps.table import CANCELLABLE, STEPS
from services.worker.steps.tools import Pace, Tools, version_of
from services.worker.steps.withdrawal import Withdrawal, withdraw
from shared.contracts.commands import AnyCommand, ProviderCommand, ProviderKind, VersionCommand
from shared.contracts.enums import FailureReason, InterruptReason, Step
from shared.domain.errors import KnowgateError
from shared.providers.ports import IngestState, ProviderWrites

log = structlog.get_logger()

T = TypeVar("T")

LETS_GO_WITHIN = timedelta(seconds=5)
"""How long a step that was told to stop may take to let go."""
STOPS_WITHIN = timedelta(seconds=10)
"""How long the provider may take to hear that a step's time is up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One command in hand, with what watches over it."""

    command: AnyCommand
    step: Step
    hand: Hand
    lease: Lease
    reporter: Reporter

    def version_command(self) -> VersionCommand:
        """The command of a cancellable step, which is always about a version."""
        if not isinstance(self.command, VersionCommand):
            raise TypeError(f"{type(self.command).__name__} is not about a version")
        return self.command


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Where commands are worked on."""

    provider: Callable[[ProviderKind], ProviderWrites]
    """The provider of a kind, opened at its first use."""
    files: ObjectRemover
    cancelled: CancelledOperations
    pace: Pace
    stop_patience: timedelta
    """How long a provider may take to stop what was cancelled while it runs here."""
    tell_after: timedelta
    """A step that ends sooner is not told to have begun: its end says as much."""

    async def work(self, job: Job) -> Outcome:
        """The outcome of a command. Raises Fenced when it may be in other hands, and what the step raises."""
        time_is_up_at = time.monotonic() + job.command.deadline_seconds
        tools = self._tools(job)
        await self._look_for_cancel(job)
        if not self.tell_after:
            await job.reporter.started()
        while True:
            time_left = timedelta(seconds=max(0.0, time_is_up_at - time.monotonic()))
            telling = Meanwhile(after=self.tell_after, tell=job.reporter.started)
            ended = await _first(lambda: STEPS[job.step](job.command, tools), job.hand, time_left, telling)
            if not isinstance(ended, Stop):
                return ended
            outcome = await self._stopped(job, tools, ended)
            if outcome is not None:
                return outcome

    async def _stopped(self, job: Job, tools: Tools, reason: Stop) -> Outcome | None:
        """What follows from a stop; None when the work goes on after all."""
        match reason:
            case Stop.LOST:
                raise Fenced
            case Stop.SHUTDOWN:
                return Interrupted(InterruptReason.SHUTDOWN)
            case Stop.CANCELLED:
                job.hand.heed_cancel()
                return await self._withdrawn(job, tools)
            case Stop.DEADLINE:
                await self._stop_provider(job, tools)
                return Failed(FailureReason.STEP_DEADLINE)

    async def _withdrawn(self, job: Job, tools: Tools) -> Outcome | None:
        """Cancelled when nothing is left. A provider that was faster, or does not stop, is followed to its end."""
        version = version_of(job.version_command())
        ended = await _first(lambda: withdraw(version, tools), job.hand, self.stop_patience)
        if ended is Withdrawal.GONE:
            return Cancelled()
        if isinstance(ended, Stop) and ended is not Stop.DEADLINE:
            return await self._stopped(job, tools, ended)
        log.info("worker.cancel.unheeded", finished=ended is Withdrawal.FINISHED)
        return None

    async def _look_for_cancel(self, job: Job) -> None:
        if job.step not in CANCELLABLE:
            return
        if await self.cancelled.includes(job.version_command().operation_id):
            job.hand.tell(Stop.CANCELLED)

    async def _stop_provider(self, job: Job, tools: Tools) -> None:
        """As far as it lets us: the next attempt finds out what became of it."""
        if job.step not in CANCELLABLE:
            return
        version = version_of(job.version_command())
        try:
            async with asyncio.timeout(STOPS_WITHIN.total_seconds()):
                found = await tools.provider.find(version)
                if found is not None and found.state is IngestState.RUNNING:
                    await tools.provider.stop_ingest(version, found.native_id)
        except Fenced:
            raise
        except (KnowgateError, TimeoutError) as error:
            log.warning("worker.provider.unstopped", error=repr(error))

    def _tools(self, job: Job) -> Tools:
        def provider() -> ProviderWrites:
            if not isinstance(job.command, ProviderCommand):
                raise TypeError(f"{type(job.command).__name__} needs no provider")
            return self.provider(job.command.profile.kind)

        return Tools(
            provider=FencedWrites(provider, job.lease.check),
            files=FencedFiles(self.files, job.lease.check),
            pace=self.pace,
            progressed=job.reporter.progressed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanwhile:
    """What is told of work that does not end at once."""

    after: timedelta
    tell: Callable[[], Awaitable[None]]


async def _first(
    work: Callable[[], Awaitable[T]], hand: Hand, time_limit: timedelta, meanwhile: Meanwhile | None = None
) -> T | Stop:
    """The result of the work, or the reason to stop if that comes first; the work has then let go."""
    reason = hand.reason()
    if reason is not None:
        return reason
    task = asyncio.ensure_future(work())
    try:
        if meanwhile is not None and await _neither(task, hand, min(meanwhile.after, time_limit)):
            await meanwhile.tell()
            time_limit -= min(meanwhile.after, time_limit)
        if await _neither(task, hand, time_limit) or not task.done():
            task.cancel()
            await asyncio.wait((task,), timeout=LETS_GO_WITHIN.total_seconds())
    finally:
        task.cancel()
    if task.done() and not task.cancelled():
        return task.result()
    return hand.reason() or Stop.DEADLINE


async def _neither(task: asyncio.Future[T], hand: Hand, within: timedelta) -> bool:
    """Wait for the end of the work or a reason to stop; True when neither came in time."""
    ended, _ = await asyncio.wait(
        (task, hand.told), timeout=within.total_seconds(), return_when=asyncio.FIRST_COMPLETED
    )
    return not ended
