"""How work ends or goes on: activation, the next step, another attempt, giving up, being cancelled."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from shared.contracts.enums import (
    DocumentStatus,
    FailureClass,
    FailureReason,
    OperationStatus,
    OperationType,
    PurgeReason,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.ids import CommandId
from shared.domain.document import Document
from shared.domain.failure import FAILURES
from shared.domain.manual_retry import may_retry
from shared.domain.operation import FIRST_STEP
from shared.domain.purge import PurgeOrder
from shared.domain.retry import LONGEST_EXPONENT, RetryAt, decide_retry, wait_before
from shared.domain.space import SPACE_MOVES, Space
from shared.domain.transitions import may_move
from shared.domain.version import VERSION_MOVES, Version
from shared.domain.work import IssueCommand, Moment, Projected, Work, with_operation

ENDS_IN_SPACE: Final = {
    OperationType.SPACE_CREATE: SpaceStatus.CREATE_FAILED,
    OperationType.SPACE_DELETE: SpaceStatus.DELETE_FAILED,
}
"""What a space is after an operation on it has failed."""

CANCEL_GIVEN_UP: Final = "operation.cancel-given-up"


def go_on(work: Work, step: Step, moment: Moment) -> Projected:
    """Issue the first command of the next step; the attempt number goes on counting."""
    command = CommandId(work.operation.id, step, work.operation.retry_count + 1, 1)
    return Projected(
        work=with_operation(work, work.operation.issued(command, moment.now)),
        issue=IssueCommand(command, moment.now),
    )


def succeed_space(work: Work, space: Space, moment: Moment) -> Projected:
    """An operation on a space is done when its one step is."""
    operation = work.operation.ended(OperationStatus.SUCCEEDED, moment.now)
    return Projected(work=replace(work, space=space, operation=operation))


def may_activate(work: Work) -> bool:
    """The candidate still belongs to this operation and the document is not going away."""
    return work.holds_slot and work.document is not None and not work.document.is_hidden


def activate(work: Work, moment: Moment) -> Projected:
    """Active := candidate, candidate := null, the old active RETIRED with its purge due after the grace period.

    A DISABLED document takes the version and stays disabled.
    """
    now = moment.now
    document, version = work.candidate()
    version = replace(version.advanced(VersionStatus.READY, now), ready_at=now, activated_at=now)
    if document.status is DocumentStatus.CREATING:
        document = document.moved(DocumentStatus.ACTIVE, now)
    document = replace(
        document,
        active_version_id=version.id,
        candidate_version_id=None,
        lock_version=document.lock_version + 1,
        updated_at=now,
    )
    retired = work.active
    purges: tuple[PurgeOrder, ...] = ()
    if retired is not None:
        retired = retired.moved(VersionStatus.RETIRED, now)
        purges = (purge_of(retired, PurgeReason.RETIRED, now + moment.rules.retired_grace),)
    operation = work.operation.ended(OperationStatus.SUCCEEDED, now)
    after = replace(work, operation=operation, document=document, version=version, active=retired)
    return Projected(work=after, purges=purges)


def purge_of(version: Version, reason: PurgeReason, due_at: datetime) -> PurgeOrder:
    """Remove everything that bears the version's name; only for versions that are over."""
    return PurgeOrder(version_id=version.id, native_document_id=None, reason=reason, due_at=due_at)


def fail(
    work: Work,
    step: Step,
    reason: FailureReason,
    moment: Moment,
    *,
    failure_class: FailureClass | None = None,
    text: str | None = None,
    retry_after: timedelta | None = None,
) -> Projected:
    """Try again later, or give up. What is unwanted has nothing left to wait for: it is CANCELLED."""
    work = with_operation(work, work.operation.began(moment.now))
    if work.is_unwanted:
        return cancel(work, moment)
    decision = decide_retry(
        failure_class or FAILURES[reason].failure_class,
        retries_so_far=work.operation.retry_count,
        retry_after=retry_after,
        policy=moment.rules.retry,
        now=moment.now,
        jitter=moment.jitter,
    )
    if isinstance(decision, RetryAt):
        return _try_again(work, step, decision.at, moment)
    return _give_up(work, step, reason, text or FAILURES[reason].text, decision.retryable, moment)


def _try_again(work: Work, step: Step, at: datetime, moment: Moment) -> Projected:
    count = work.operation.retry_count + 1
    command = CommandId(work.operation.id, step, count + 1, 1)
    operation = replace(
        work.operation.issued(command, moment.now),
        retry_count=count,
        last_retry_at=moment.now,
        next_retry_at=at,
    )
    return Projected(work=with_operation(work, operation), issue=IssueCommand(command, at))


def _give_up(work: Work, step: Step, reason: FailureReason, text: str, retryable: bool, moment: Moment) -> Projected:
    now = moment.now
    operation = work.operation.gave_up(reason, text, retryable=retryable and may_retry(work.operation), now=now)
    if work.version is None:
        then = SpaceStatus.DELETE_FAILED if step is Step.REMOVE else SpaceStatus.CREATE_FAILED
        return Projected(work=replace(work, operation=operation, space=work.space.moved(then, now)))
    version = work.version.failed(step, reason, text, retryable=operation.is_retryable, now=now)
    return Projected(
        work=replace(work, operation=operation, version=version, document=_without_candidate(work, moment))
    )


def end_by_operator(work: Work, moment: Moment) -> Work:
    """The operation FAILED because an operator wants it to end, whatever it waits for; a candidate keeps its slot.

    What was being cancelled may be half removed: a retry of it begins anew. A document that is being deleted stays so.
    """
    now, before = moment.now, work.operation
    reason, text = FailureReason.ENDED_BY_OPERATOR, FAILURES[FailureReason.ENDED_BY_OPERATOR].text
    operation = before.gave_up(reason, text, retryable=may_retry(before) and not work.is_leaving, now=now)
    if before.type in ENDS_IN_SPACE:
        then = ENDS_IN_SPACE[before.type]
        is_there = may_move(SPACE_MOVES, work.space.status, then)
        return replace(work, operation=operation, space=work.space.moved(then, now) if is_there else work.space)
    version = work.version
    if version is None or not may_move(VERSION_MOVES, version.status, VersionStatus.FAILED):
        return with_operation(work, operation)
    first = FIRST_STEP[before.type] or Step.UPLOAD
    step = first if before.work is None or before.is_cancelling else before.work.step
    failed = version.failed(step, reason, text, retryable=operation.is_retryable, now=now)
    return replace(work, operation=operation, version=failed, document=_without_candidate(work, moment))


def request_cancel(work: Work, moment: Moment, *, is_out: bool) -> Projected:
    """Cancel at once when the current command has not gone out; otherwise by a command that has a worker confirm it.

    Once is enough: a second request changes nothing.
    """
    if work.operation.is_cancelling:
        return Projected(work=work)
    if not is_out:
        return cancel(work, moment)
    operation = work.operation.cancelling(moment.now)
    issue = None if operation.cancel is None else IssueCommand(operation.cancel, moment.now)
    return Projected(work=with_operation(work, operation), issue=issue)


def cancel(work: Work, moment: Moment) -> Projected:
    """The operation ends CANCELLED, and nothing of its version stays at the provider."""
    operation = work.operation.ended(OperationStatus.CANCELLED, moment.now)
    if work.version is None:
        return Projected(work=with_operation(work, operation))
    version = work.version.cancelled(moment.now)
    after = replace(work, operation=operation, version=version, document=_without_candidate(work, moment))
    purges = (purge_of(version, PurgeReason.CANCELLED, moment.now),) if version.is_over else ()
    return Projected(work=after, purges=purges)


def _without_candidate(work: Work, moment: Moment) -> Document | None:
    """The document when its candidate will not become active: a first version takes its creation with it."""
    document = work.document
    return document.creation_failed(moment.now) if document is not None and work.holds_slot else document


def issue_again(work: Work, current: CommandId, moment: Moment) -> Projected:
    """The same attempt once more, without counting: a deploy is nobody's failure."""
    again = replace(current, issue=current.issue + 1)
    if current.step is Step.CANCEL:
        operation = replace(work.operation, cancel=again, updated_at=moment.now)
    else:
        operation = work.operation.issued(again, moment.now)
    return Projected(work=with_operation(work, operation), issue=IssueCommand(again, moment.now))


def cancel_again(work: Work, current: CommandId, moment: Moment) -> Projected:
    """Cancelling is housekeeping: tried until it works or its time is up, never counted as a retry.

    For a document that is being deleted it is tried on: nothing is to become of that work anyway.
    """
    requested_at = work.operation.cancel_requested_at or moment.now
    if moment.now - requested_at >= moment.rules.cancel_deadline and not work.is_leaving:
        return Projected(work=with_operation(work, work.operation.cancel_given_up(moment.now)), note=CANCEL_GIVEN_UP)
    again = CommandId(current.owner, Step.CANCEL, current.attempt + 1, 1)
    due_at = moment.now + wait_before(moment.rules.retry, min(current.attempt, LONGEST_EXPONENT), moment.jitter)
    operation = replace(work.operation, cancel=again, updated_at=moment.now)
    return Projected(work=with_operation(work, operation), issue=IssueCommand(again, due_at))
