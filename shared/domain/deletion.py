"""The delete of a document: hidden at once, then purged version by version until nothing of it is left."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from shared.contracts.enums import DocumentStatus, FailureReason, OperationStatus
from shared.domain.document import Document
from shared.domain.failure import FAILURES
from shared.domain.operation import OPERATION_MOVES, Operation
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.retry import AUTOMATIC_RETRIES
from shared.domain.transitions import move


def hidden(document: Document, now: datetime) -> Document:
    """The document from the moment its delete was accepted: nobody sees it any more."""
    return replace(document.moved(DocumentStatus.DELETING, now), lock_version=document.lock_version + 1)


def purging(delete: Operation, now: datetime) -> Operation:
    """The delete once nothing else runs on its document and its purges are ordered."""
    status = move(OPERATION_MOVES, delete.status, OperationStatus.RUNNING)
    return replace(delete, status=status, started_at=now, updated_at=now)


def is_purged(purges: Collection[Purge]) -> bool:
    """Whether nothing is left of what a delete waits for."""
    return all(purge.status is PurgeStatus.DONE for purge in purges)


def after_purges(delete: Operation, purges: Collection[Purge], now: datetime) -> Operation:
    """The delete after one of its purges was answered. `purges`: all of them.

    It counts as many retries as the purge that was tried most often. Out of retries it is FAILED, and final; its
    purges go on all the same.
    """
    if delete.is_over:
        return delete
    if is_purged(purges):
        return delete.ended(OperationStatus.SUCCEEDED, now)
    retries = max(purge.attempt for purge in purges) - 1
    waits = [purge.due_at for purge in purges if purge.status is PurgeStatus.WAITING and purge.attempt > 1]
    told = replace(
        delete,
        retry_count=min(retries, AUTOMATIC_RETRIES),
        last_retry_at=now if retries > delete.retry_count else delete.last_retry_at,
        next_retry_at=min(waits, default=None),
        heard_at=now,
        updated_at=now,
    )
    return told if retries <= AUTOMATIC_RETRIES else _out_of_retries(told, now)


def _out_of_retries(delete: Operation, now: datetime) -> Operation:
    reason = FailureReason.PROVIDER_UNAVAILABLE
    return delete.gave_up(reason, FAILURES[reason].text, retryable=False, now=now)
