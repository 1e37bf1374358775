"""Manual retries: who may be retried, and what a retry makes of what it is about."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from shared.contracts.enums import DocumentStatus, OperationStatus, OperationType, SpaceStatus, Step
from shared.domain.document import Document
from shared.domain.errors import NotRetryable, RetryLimitReached
from shared.domain.operation import FIRST_STEP, Operation
from shared.domain.retry import MANUAL_RETRIES
from shared.domain.space import Space
from shared.domain.version import Version

RETRYABLE = frozenset(
    {
        OperationType.SPACE_CREATE,
        OperationType.DOCUMENT_UPLOAD,
        OperationType.DOCUMENT_REPLACE,
        OperationType.DOCUMENT_REINDEX,
    }
)
"""Only these may be retried by a person. A delete that failed is asked for again (space) or goes on (document)."""


def may_retry(operation: Operation) -> bool:
    """Whether an operation of this type may be retried at all, and its root has a retry left."""
    return operation.type in RETRYABLE and operation.manual_attempt < MANUAL_RETRIES


def require_retryable(operation: Operation, retries: Sequence[Operation]) -> None:
    """Refuse unless the operation is the newest of its tree, FAILED, and may succeed. `retries`: all of its root."""
    if operation.type not in RETRYABLE:
        raise NotRetryable(f"An operation of type {operation.type.value} cannot be retried.")
    if any(retry.manual_attempt > operation.manual_attempt for retry in retries):
        raise NotRetryable("The operation has been retried already; only its newest retry can be retried again.")
    if operation.status is not OperationStatus.FAILED:
        raise NotRetryable(f"Only an operation that FAILED can be retried: it is {operation.status.value}.")
    if len(retries) >= MANUAL_RETRIES:
        raise RetryLimitReached
    if not operation.is_retryable:
        way_out = "" if operation.document_id is None else " Replace the document with a corrected file."
        raise NotRetryable(f"The operation would fail again, or something newer has taken its place.{way_out}")


def child_of(failed: Operation, child: Operation, retries: Sequence[Operation]) -> Operation:
    """A new operation as the next retry of a failed one."""
    return replace(child, root_id=failed.root_id, parent_id=failed.id, manual_attempt=len(retries) + 1)


def step_to_retry(operation: Operation, version: Version | None) -> Step | None:
    """The step that failed; what had succeeded before it is not repeated."""
    failed = None if version is None else version.failed_step
    return failed or FIRST_STEP[operation.type]


def document_retried(document: Document, now: datetime) -> Document:
    """The document whose candidate is worked on again."""
    if document.status is DocumentStatus.CREATE_FAILED:
        document = document.moved(DocumentStatus.CREATING, now)
    return replace(document, lock_version=document.lock_version + 1, updated_at=now)


def space_retried(space: Space, now: datetime) -> Space:
    """The space that is created again."""
    if space.status is not SpaceStatus.CREATE_FAILED:
        raise NotRetryable("The space is not one whose creation failed any more.")
    return replace(space.moved(SpaceStatus.CREATING, now), lock_version=space.lock_version + 1)
