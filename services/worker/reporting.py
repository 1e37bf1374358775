"""Tells what becomes of one delivery of a command: numbered events under a run of their own."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol, TypedDict

from services.worker.outcomes import Cancelled, Failed, Interrupted, Outcome, Purged, Succeeded, TooLate
from shared.contracts.enums import Step
from shared.contracts.events import (
    AnyEvent,
    CancelTooLate,
    StepCancelled,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepStarted,
    StepSucceeded,
    TargetPurged,
)
from shared.contracts.ids import CommandId, EventId, TenantId
from shared.messaging.codec import SCHEMA, Message, Schema, event_message
from shared.messaging.publisher import Acked
from shared.telemetry.stamps import Clock

SOURCE = "worker"


class Publishes(Protocol):
    """Puts events into their stream; `messaging` satisfies it."""

    async def send(self, message: Message) -> Acked:
        """Publish one message and wait for its acknowledgement."""

    async def hint(self, message: Message) -> None:
        """Publish one message that may be lost."""


class Stamp(TypedDict):
    """What every event carries."""

    event_id: EventId
    command_id: str
    owner_id: str
    step: Step
    tenant_id: TenantId
    occurred_at: datetime


class Reporter:
    """The events of one delivery. `run` tells it from every other delivery of the same command."""

    def __init__(
        self,
        publisher: Publishes,
        command: CommandId,
        tenant: TenantId,
        *,
        run: str,
        traceparent: str | None,
        clock: Clock,
        progress_every: timedelta,
        schema: Schema = SCHEMA,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._publisher = publisher
        self._command = command
        self._tenant = tenant
        self._run = run
        self._traceparent = traceparent
        self._clock = clock
        self._schema = schema
        self._monotonic = monotonic
        self._progress_every = progress_every.total_seconds()
        self._number = 0
        self._has_begun = False
        self._percent: int | None = None
        self._progress_due_at = 0.0

    async def started(self) -> None:
        """Tell that the work has begun; once."""
        if self._has_begun:
            return
        self._has_begun = True
        await self._hint(StepStarted(**self._stamp()))

    async def progressed(self, percent: int) -> None:
        """Tell how far the provider says it is: only changes, and not too often."""
        now = self._monotonic()
        if percent == self._percent or now < self._progress_due_at:
            return
        self._percent, self._progress_due_at = percent, now + self._progress_every
        await self._hint(StepProgressed(**self._stamp(), percent=min(max(percent, 0), 100)))

    def last_word(self, outcome: Outcome) -> Message:
        """The event that ends the command, ready to be sent; sent again it is the same event."""
        return self._message(_event_of(outcome, self._stamp()))

    async def send(self, message: Message) -> None:
        """Send the last word, for the first time or again; StoreUnavailable when the broker does not answer."""
        await self._publisher.send(message)

    async def _hint(self, event: AnyEvent) -> None:
        await self._publisher.hint(self._message(event))

    def _message(self, event: AnyEvent) -> Message:
        return event_message(event, source=SOURCE, traceparent=self._traceparent, schema=self._schema)

    def _stamp(self) -> Stamp:
        self._number += 1
        return Stamp(
            event_id=self._command.event(self._run, self._number),
            command_id=str(self._command),
            owner_id=self._command.owner,
            step=self._command.step,
            tenant_id=self._tenant,
            occurred_at=self._clock(),
        )


def _event_of(outcome: Outcome, stamp: Stamp) -> AnyEvent:
    match outcome:
        case Succeeded(result):
            return StepSucceeded(**stamp, result=result)
        case Purged():
            return TargetPurged(**stamp)
        case Cancelled():
            return StepCancelled(**stamp)
        case TooLate():
            return CancelTooLate(**stamp)
        case Interrupted(reason):
            return StepInterrupted(**stamp, reason=reason)
        case Failed():
            return StepFailed(
                **stamp,
                failure_class=outcome.failure_class,
                reason=outcome.reason,
                text=outcome.text,
                retry_after_seconds=None if outcome.retry_after is None else outcome.retry_after.total_seconds(),
            )
