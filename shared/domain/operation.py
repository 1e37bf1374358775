"""An operation: its states, its two command slots, and what a caller sees of it."""

from dataclasses import dataclass, replace
from datetime import datetime

from shared.contracts.enums import FailureReason, OperationStatus, OperationType, ResourceType, Step
from shared.contracts.ids import CommandId, DocumentId, OperationId, SpaceId, SubjectId, TenantId, VersionId
from shared.domain.errors import AlreadyEnded, NotCancellable
from shared.domain.transitions import Table, move, terminal

_END = frozenset({OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.CANCELLED})

OPERATION_MOVES: Table[OperationStatus] = {
    OperationStatus.PENDING: frozenset({OperationStatus.RUNNING}) | _END,
    OperationStatus.RUNNING: _END,
    OperationStatus.SUCCEEDED: frozenset(),
    OperationStatus.FAILED: frozenset(),
    OperationStatus.CANCELLED: frozenset(),
}

OPERATION_END = terminal(OPERATION_MOVES)
"""The statuses that an operation never leaves."""

FIRST_STEP: dict[OperationType, Step | None] = {
    OperationType.SPACE_CREATE: Step.PROVISION,
    OperationType.SPACE_DELETE: Step.REMOVE,
    OperationType.DOCUMENT_UPLOAD: Step.UPLOAD,
    OperationType.DOCUMENT_REPLACE: Step.UPLOAD,
    OperationType.DOCUMENT_REINDEX: Step.REINDEX,
    OperationType.DOCUMENT_DELETE: None,
    OperationType.SPACE_UPDATE: None,
    OperationType.DOCUMENT_UPDATE: None,
    OperationType.DOCUMENT_ENABLE: None,
    OperationType.DOCUMENT_DISABLE: None,
    OperationType.OPERATION_CANCEL: None,
    OperationType.OPERATION_RETRY: None,
}
"""The command an operation begins with. None: answered at once, or (delete) done by purges alone."""

NEXT_STEP: dict[Step, Step | None] = {
    Step.PROVISION: None,
    Step.REMOVE: None,
    Step.UPLOAD: Step.INGEST,
    Step.INGEST: None,
    Step.REINDEX: None,
    Step.CANCEL: None,
    Step.PURGE: None,
    Step.PURGE_FILE: None,
}
"""What follows when a step has succeeded. None: the operation is done."""

CANCELLABLE = frozenset({OperationType.DOCUMENT_UPLOAD, OperationType.DOCUMENT_REPLACE, OperationType.DOCUMENT_REINDEX})
"""Only these may be cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One accepted piece of work. A 202 names it; it ends in exactly one terminal status."""

    id: OperationId
    tenant_id: TenantId
    type: OperationType
    status: OperationStatus
    resource_type: ResourceType
    resource_id: str
    space_id: SpaceId
    document_id: DocumentId | None = None
    version_id: VersionId | None = None
    root_id: OperationId
    parent_id: OperationId | None = None
    manual_attempt: int = 0
    work: CommandId | None = None
    """The command that is current; only its events move this operation."""
    cancel: CommandId | None = None
    """The cancel command that is current, once one was issued; after a cancel that was given up, its last one."""
    retry_count: int = 0
    last_retry_at: datetime | None = None
    next_retry_at: datetime | None = None
    """Set while the operation waits for a retry."""
    cancel_requested_at: datetime | None = None
    failure_reason: FailureReason | None = None
    failure_text: str | None = None
    is_retryable: bool = False
    created_by: SubjectId
    created_at: datetime
    started_at: datetime | None = None
    heard_at: datetime | None = None
    """When a worker last reported anything of it."""
    ended_at: datetime | None = None
    updated_at: datetime

    def began(self, now: datetime) -> "Operation":
        """The operation once a worker has it."""
        if self.status is not OperationStatus.PENDING:
            return replace(self, heard_at=now, updated_at=now, next_retry_at=None)
        return replace(
            self,
            status=move(OPERATION_MOVES, self.status, OperationStatus.RUNNING),
            started_at=now,
            heard_at=now,
            next_retry_at=None,
            updated_at=now,
        )

    def ended(self, status: OperationStatus, now: datetime) -> "Operation":
        """The operation in a terminal status: no command of it is current any more."""
        return replace(
            self,
            status=move(OPERATION_MOVES, self.status, status),
            work=None,
            cancel=None,
            next_retry_at=None,
            started_at=self.started_at or now,
            ended_at=now,
            updated_at=now,
        )

    def gave_up(self, reason: FailureReason, text: str, *, retryable: bool, now: datetime) -> "Operation":
        """The operation FAILED."""
        return replace(
            self.ended(OperationStatus.FAILED, now),
            failure_reason=reason,
            failure_text=text,
            is_retryable=retryable,
        )

    def not_retryable(self, now: datetime) -> "Operation":
        """The operation once something newer has taken its place: nobody may retry it any more."""
        return replace(self, is_retryable=False, updated_at=now)

    def cancelling(self, now: datetime) -> "Operation":
        """The operation once a cancel was asked for that a worker has to confirm."""
        attempt = 1 if self.cancel is None else self.cancel.attempt + 1
        command = CommandId(self.id, Step.CANCEL, attempt, 1)
        return replace(self, cancel=command, cancel_requested_at=now, updated_at=now)

    def cancel_given_up(self, now: datetime) -> "Operation":
        """The operation as if its cancel had never been asked for: it ends by itself.

        Which cancel command was the last stays known: one that is asked for anew is another command.
        """
        return replace(self, cancel_requested_at=None, updated_at=now)

    def issued(self, command: CommandId, now: datetime) -> "Operation":
        """The operation with another current work command."""
        return replace(self, work=command, updated_at=now)

    @property
    def is_over(self) -> bool:
        """True in a terminal status."""
        return self.status in OPERATION_END

    def is_current(self, command_id: str) -> bool:
        """Whether this is the command that the operation waits for, of its work or of its cancel."""
        current = {str(self.work), str(self.cancel)} if self.is_cancelling else {str(self.work)}
        return command_id in current

    @property
    def is_cancelling(self) -> bool:
        """True between a cancel that was accepted and the end."""
        return self.cancel_requested_at is not None and not self.is_over


def require_cancellable(operation: Operation) -> None:
    """Refuse to cancel what is over, and what no worker can stop."""
    if operation.is_over:
        raise NotCancellable(f"The operation has ended already, as {operation.status.value}.")
    if operation.type not in CANCELLABLE:
        raise NotCancellable("Only an upload, a replacement and a reindexing can be cancelled.")


def require_unfinished(operation: Operation) -> None:
    """Refuse to end what is over."""
    if operation.is_over:
        raise AlreadyEnded(f"The operation has ended already, as {operation.status.value}.")


def first_command(operation: Operation, step: Step | None = None) -> CommandId | None:
    """The command an operation begins with, or None when it needs none; `step` if it is not the usual one."""
    step = step or FIRST_STEP[operation.type]
    return None if step is None else CommandId(operation.id, step, 1, 1)
