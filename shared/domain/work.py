"""An operation with everything that its events may move, and what a decision about it says."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.contracts.ids import CommandId
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.purge import PurgeOrder
from shared.domain.retry import RetryPolicy
from shared.domain.space import Space
from shared.domain.transitions import IllegalMove
from shared.domain.version import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An operation, its space and, unless it is about the space itself, its document and versions."""

    operation: Operation
    space: Space
    document: Document | None = None
    version: Version | None = None
    """The version that the operation works on."""
    active: Version | None = None
    """The version that the document serves now."""

    def candidate(self) -> tuple[Document, Version]:
        """The document and the version of an operation on a version."""
        if self.document is None or self.version is None:
            raise IllegalMove(f"operation {self.operation.id} has no version that an event could move")
        return self.document, self.version

    @property
    def holds_slot(self) -> bool:
        """True while the version stands in its document's candidate slot for this operation."""
        return (
            self.document is not None
            and self.version is not None
            and self.document.candidate_version_id == self.version.id
            and self.version.operation_id == self.operation.id
        )

    @property
    def is_unwanted(self) -> bool:
        """True when its success is of no use any more: it is being cancelled, or its document is being deleted."""
        return self.operation.is_cancelling or self.is_leaving

    @property
    def is_leaving(self) -> bool:
        """True when the document is being deleted or is gone."""
        return self.document is not None and self.document.is_hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is settled by configuration: waits between retries, how long a retired version is kept, a cancel tried."""

    retry: RetryPolicy = field(default_factory=RetryPolicy)
    retired_grace: timedelta = timedelta(minutes=1)
    cancel_deadline: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a decision may know beside the work and the event. `jitter` in [0, 1) spreads retries."""

    now: datetime
    jitter: float
    rules: Rules


@dataclass(frozen=True, slots=True)
class IssueCommand:
    """A command to be issued, not before `due_at`."""

    command: CommandId
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected:
    """The work after an event, and what follows from it."""

    work: Work
    issue: IssueCommand | None = None
    purges: tuple[PurgeOrder, ...] = ()
    is_skipped: bool = False
    note: str | None = None
    """What the audit calls it, when it is worth telling although no status changed."""


def with_operation(work: Work, operation: Operation) -> Work:
    """The work with its operation moved."""
    return replace(work, operation=operation)
