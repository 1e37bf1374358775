"""Events: each states one fact about one command and may not be refused. `started` and `progressed` are hints."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from shared.contracts.enums import EventType, FailureClass, FailureReason, InterruptReason, Step
from shared.contracts.ids import EventId, TenantId
from shared.contracts.wire import Maybe, UtcTime, Wire


class SpaceProvisioned(Wire):
    """The provider holds the space under this id."""

    kind: Literal["SpaceProvisioned"] = "SpaceProvisioned"
    native_space_id: str


class SpaceRemoved(Wire):
    """The provider holds nothing of the space any more."""

    kind: Literal["SpaceRemoved"] = "SpaceRemoved"


class VersionUploaded(Wire):
    """The provider holds the version's file under this id."""

    kind: Literal["VersionUploaded"] = "VersionUploaded"
    native_document_id: str


class VersionIngested(Wire):
    """The provider says that the version is done, and what a look at it showed."""

    kind: Literal["VersionIngested"] = "VersionIngested"
    native_document_id: str
    done: bool
    chunk_count: int = Field(ge=0)
    probe_found: bool
    """A probe read returned text of this document."""

    @property
    def is_verified(self) -> bool:
        """True when the version may serve search: done, not empty, and readable."""
        return self.done and self.chunk_count > 0 and self.probe_found


StepResult = SpaceProvisioned | SpaceRemoved | VersionUploaded | VersionIngested


class Event(Wire):
    """What every event carries."""

    schema_version: Literal[1] = 1
    event_id: EventId
    command_id: str
    owner_id: str
    """The operation or purge that the command belongs to."""
    step: Step
    tenant_id: TenantId
    occurred_at: UtcTime


class StepStarted(Event):
    """A worker has begun. A hint: it may be lost or repeated."""

    type: Literal[EventType.STARTED] = EventType.STARTED


class StepProgressed(Event):
    """The provider reported how far it is. A hint: it may be lost or repeated."""

    type: Literal[EventType.PROGRESSED] = EventType.PROGRESSED
    percent: int = Field(ge=0, le=100)


class StepSucceeded(Event):
    """The command's effect is there, with what the provider returned."""

    type: Literal[EventType.SUCCEEDED] = EventType.SUCCEEDED
    result: Annotated[StepResult, Field(discriminator="kind")]


class StepFailed(Event):
    """The command's effect is not there; the class says what to do about it."""

    type: Literal[EventType.FAILED] = EventType.FAILED
    failure_class: FailureClass
    reason: FailureReason
    text: str = Field(min_length=1, max_length=2000)
    """Safe to show to the caller: no addresses, keys, native ids or provider text."""
    retry_after_seconds: Maybe[float] = None
    """What a throttling provider asked for."""


class StepInterrupted(Event):
    """A worker handed the command back unfinished."""

    type: Literal[EventType.INTERRUPTED] = EventType.INTERRUPTED
    reason: InterruptReason


class StepCancelled(Event):
    """The provider confirmed that nothing of the version runs or remains."""

    type: Literal[EventType.CANCELLED] = EventType.CANCELLED


class CancelTooLate(Event):
    """The provider had already finished when the cancel arrived; the work's own event decides."""

    type: Literal[EventType.TOO_LATE] = EventType.TOO_LATE


class TargetPurged(Event):
    """What was to be removed is gone, or was never there."""

    type: Literal[EventType.PURGED] = EventType.PURGED


AnyEvent = (
    StepStarted
    | StepProgressed
    | StepSucceeded
    | StepFailed
    | StepInterrupted
    | StepCancelled
    | CancelTooLate
    | TargetPurged
)

EVENTS: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="type")])
"""Reads any event from JSON by its `type`."""

EVENT_BY_TYPE: dict[EventType, type[Event]] = {
    EventType.STARTED: StepStarted,
    EventType.PROGRESSED: StepProgressed,
    EventType.SUCCEEDED: StepSucceeded,
    EventType.FAILED: StepFailed,
    EventType.INTERRUPTED: StepInterrupted,
    EventType.CANCELLED: StepCancelled,
    EventType.TOO_LATE: CancelTooLate,
    EventType.PURGED: TargetPurged,
}
"""One event model for each type."""

HINTS = frozenset({EventType.STARTED, EventType.PROGRESSED})
"""Events that may be lost without loss."""

TERMINAL_EVENTS = frozenset(EventType) - HINTS
"""Events that end a command; the first one projected decides."""
