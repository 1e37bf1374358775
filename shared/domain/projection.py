"""What an event does to the work it tells of. Pure: the projector loads, calls `project`, and saves.

An operation has two command slots, work and cancel. Only an event of a command in a slot moves it, and
the first terminal event projected decides; everything else is Skipped, with what it left behind purged.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from shared.contracts.enums import FailureReason, InterruptReason, PurgeReason, SpaceStatus, Step, VersionStatus
from shared.contracts.events import (
    AnyEvent,
    CancelTooLate,
    SpaceProvisioned,
    SpaceRemoved,
    StepCancelled,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepStarted,
    StepSucceeded,
    TargetPurged,
    VersionIngested,
    VersionUploaded,
)
from shared.contracts.ids import CommandId
from shared.domain.operation import NEXT_STEP
from shared.domain.outcomes import (
    activate,
    cancel,
    cancel_again,
    fail,
    go_on,
    issue_again,
    may_activate,
    succeed_space,
)
from shared.domain.purge import PurgeOrder
from shared.domain.version import IN_STEP
from shared.domain.work import Moment, Projected, Work, with_operation

RESULT_DISCARDED: Final = "operation.result-discarded"


def project(work: Work, event: AnyEvent, moment: Moment) -> Projected:
    """Apply one event to its work; the same work, event and moment always give the same answer."""
    if not work.operation.is_current(event.command_id):
        return _skip(work, event, moment)
    return _move(work, event, moment)


def _move(work: Work, event: AnyEvent, moment: Moment) -> Projected:
    match event:
        case StepStarted():
            return Projected(work=_begin(work, event.step, moment))
        case StepProgressed():
            return Projected(work=_progress(work, event, moment))
        case StepSucceeded():
            return _succeed(work, event, moment)
        case StepFailed():
            return _fail(work, event, moment)
        case StepInterrupted():
            return _interrupt(work, event, moment)
        case StepCancelled():
            return cancel(work, moment)
        case CancelTooLate():
            return Projected(work=with_operation(work, replace(work.operation, cancel=None, updated_at=moment.now)))
        case TargetPurged():
            return Projected(work=work, is_skipped=True)


def _skip(work: Work, event: AnyEvent, moment: Moment) -> Projected:
    """Fence 2: purge what a command that is no longer current left at the provider, by exactly its id.

    One that ended without telling an id may have left something all the same; a version that is gone is purged by name.
    """
    version = work.version
    if version is None:
        return Projected(work=work, is_skipped=True)
    native = _reported_native_id(event)
    is_gone = version.status in {VersionStatus.CANCELLED, VersionStatus.DELETED}
    is_other = native is not None and version.native_document_id not in {None, native}
    is_known = native is not None and (is_gone or is_other or work.is_leaving)
    if not is_known and not (is_gone and _ended_untold(event)):
        return Projected(work=work, is_skipped=True)
    order = PurgeOrder(version_id=version.id, native_document_id=native, reason=PurgeReason.LEFTOVER, due_at=moment.now)
    return Projected(work=work, purges=(order,), is_skipped=True, note=RESULT_DISCARDED)


def _ended_untold(event: AnyEvent) -> bool:
    """Work that ended before it was done: what it had made by then it does not tell."""
    return isinstance(event, StepFailed | StepInterrupted) and event.step in IN_STEP


def _reported_native_id(event: AnyEvent) -> str | None:
    if isinstance(event, StepSucceeded) and isinstance(event.result, VersionUploaded | VersionIngested):
        return event.result.native_document_id
    return None


def _begin(work: Work, step: Step, moment: Moment) -> Work:
    version = work.version
    if version is not None and step in IN_STEP:
        version = version.advanced(IN_STEP[step], moment.now)
    return replace(work, operation=work.operation.began(moment.now), version=version)


def _progress(work: Work, event: StepProgressed, moment: Moment) -> Work:
    work = _begin(work, event.step, moment)
    version = work.version
    return work if version is None else replace(work, version=version.progressed(event.percent, moment.now))


def _succeed(work: Work, event: StepSucceeded, moment: Moment) -> Projected:
    work = with_operation(work, work.operation.began(moment.now))
    match event.result:
        case SpaceProvisioned(native_space_id=native):
            return succeed_space(work, work.space.provisioned(native, moment.now), moment)
        case SpaceRemoved():
            return succeed_space(work, work.space.moved(SpaceStatus.DELETED, moment.now), moment)
        case VersionUploaded(native_document_id=native):
            return _uploaded(work, event.step, native, moment)
        case VersionIngested() as ingested:
            return _ingested(work, event.step, ingested, moment)


def _uploaded(work: Work, step: Step, native: str, moment: Moment) -> Projected:
    _, version = work.candidate()
    version = replace(version.advanced(VersionStatus.UPLOADED, moment.now), native_document_id=native)
    work = replace(work, version=version)
    following = NEXT_STEP[step]
    if work.is_unwanted or following is None:
        return cancel(work, moment)
    return go_on(work, following, moment)


def _ingested(work: Work, step: Step, ingested: VersionIngested, moment: Moment) -> Projected:
    """Never activate on a provider's word alone: done, chunks, and a probe that found the text."""
    if not ingested.is_verified:
        return fail(work, step, FailureReason.NOT_VERIFIED, moment)
    _, version = work.candidate()
    version = replace(version, native_document_id=ingested.native_document_id, chunk_count=ingested.chunk_count)
    work = replace(work, version=version)
    return activate(work, moment) if may_activate(work) else cancel(work, moment)


def _fail(work: Work, event: StepFailed, moment: Moment) -> Projected:
    if event.step is Step.CANCEL:
        return cancel_again(work, CommandId.parse(event.command_id), moment)
    return fail(
        work,
        event.step,
        event.reason,
        moment,
        failure_class=event.failure_class,
        text=event.text,
        retry_after=None if event.retry_after_seconds is None else timedelta(seconds=event.retry_after_seconds),
    )


def _interrupt(work: Work, event: StepInterrupted, moment: Moment) -> Projected:
    current = CommandId.parse(event.command_id)
    is_cancel = event.step is Step.CANCEL
    if event.reason is InterruptReason.SHUTDOWN and (is_cancel or not work.is_unwanted):
        return issue_again(work, current, moment)
    if is_cancel:
        return cancel_again(work, current, moment)
    return fail(work, event.step, FailureReason.WORKER_CRASHED, moment)
