"""Purges: housekeeping that removes what nothing needs any more, with counters and waits of its own."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum, unique

from shared.contracts.enums import PurgeReason, Step
from shared.contracts.ids import CommandId, DocumentId, FileId, OperationId, PurgeId, SpaceId, TenantId, VersionId
from shared.domain.retry import LONGEST_EXPONENT, RetryPolicy, wait_before
from shared.domain.transitions import Table, move


@unique
class PurgeStatus(StrEnum):
    """WAITING until it is due and its turn, ISSUED while a command of it is out, DONE when the target is gone."""

    WAITING = "WAITING"
    ISSUED = "ISSUED"
    DONE = "DONE"


PURGE_MOVES: Table[PurgeStatus] = {
    PurgeStatus.WAITING: frozenset({PurgeStatus.ISSUED, PurgeStatus.DONE}),
    PurgeStatus.ISSUED: frozenset({PurgeStatus.WAITING, PurgeStatus.DONE}),
    PurgeStatus.DONE: frozenset(),
}

ENDS_VERSION = frozenset({PurgeReason.RETIRED, PurgeReason.SUPERSEDED, PurgeReason.DELETED})
"""A version purged for one of these is DELETED; a CANCELLED one stays visible in its slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeOrder:
    """A decision that something is to be purged; `lifecycle` makes it a row."""

    version_id: VersionId
    native_document_id: str | None
    """Exactly this provider document; None: all that bear the version's name (only for versions that are over)."""
    reason: PurgeReason
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """One thing to be removed: a version's provider document, or a file's object."""

    id: PurgeId
    tenant_id: TenantId
    step: Step
    """PURGE or PURGE_FILE."""
    reason: PurgeReason
    status: PurgeStatus
    space_id: SpaceId | None = None
    document_id: DocumentId | None = None
    version_id: VersionId | None = None
    native_document_id: str | None = None
    file_id: FileId | None = None
    operation_id: OperationId | None = None
    """The delete that waits for it."""
    attempt: int = 1
    issue: int = 1
    due_at: datetime
    created_at: datetime
    updated_at: datetime

    @property
    def command(self) -> CommandId:
        """The command of the current attempt."""
        return CommandId(self.id, self.step, self.attempt, self.issue)

    @property
    def is_untried(self) -> bool:
        """True while it only waits to remove all of its version for the first time."""
        return self.status is PurgeStatus.WAITING and self.attempt == 1 and self.native_document_id is None

    def taken_over(self, operation_id: OperationId, now: datetime) -> "Purge":
        """The purge as one that a delete waits for; there is no grace any more."""
        due_at = min(self.due_at, now)
        return replace(self, reason=PurgeReason.DELETED, operation_id=operation_id, due_at=due_at, updated_at=now)

    def issued(self, now: datetime) -> "Purge":
        """The purge with its command out."""
        return replace(self, status=move(PURGE_MOVES, self.status, PurgeStatus.ISSUED), updated_at=now)

    def finished(self, now: datetime) -> "Purge":
        """The purge with its target gone."""
        return replace(self, status=move(PURGE_MOVES, self.status, PurgeStatus.DONE), updated_at=now)

    def failed(self, policy: RetryPolicy, now: datetime, jitter: float) -> "Purge":
        """The purge waiting for its next attempt; it never gives up, the wait is capped."""
        wait = wait_before(policy, min(self.attempt, LONGEST_EXPONENT), jitter)
        return replace(
            self,
            status=move(PURGE_MOVES, self.status, PurgeStatus.WAITING),
            attempt=self.attempt + 1,
            issue=1,
            due_at=now + wait,
            updated_at=now,
        )

    def postponed(self, policy: RetryPolicy, now: datetime, jitter: float) -> "Purge":
        """The purge after its command could not even be made: it makes way for others, and counts as tried."""
        wait = wait_before(policy, min(self.attempt, LONGEST_EXPONENT), jitter)
        return replace(self, attempt=self.attempt + 1, issue=1, due_at=now + wait, updated_at=now)

    def interrupted(self, now: datetime) -> "Purge":
        """The purge waiting to be issued again without counting."""
        return replace(
            self,
            status=move(PURGE_MOVES, self.status, PurgeStatus.WAITING),
            issue=self.issue + 1,
            due_at=now,
            updated_at=now,
        )
