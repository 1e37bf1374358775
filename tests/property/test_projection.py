"""Whatever the order, the repetitions and the losses of hints: the same events lead to the same legal end."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.contracts.commands import ProviderKind, ProviderProfile, SourceFile
from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    FailureClass,
    FailureReason,
    InterruptReason,
    OperationStatus,
    OperationType,
    ResourceType,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.events import (
    HINTS,
    AnyEvent,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepStarted,
    StepSucceeded,
    VersionIngested,
    VersionUploaded,
)
from shared.contracts.ids import (
    CommandId,
    DocumentId,
    FileId,
    OperationId,
    SpaceId,
    SubjectId,
    TenantId,
    VersionId,
)
from shared.contracts.metadata import DocumentMetadata
from shared.domain.document import Document
from shared.domain.operation import Operation, first_command
from shared.domain.projection import project
from shared.domain.space import Space
from shared.domain.version import Version
from shared.domain.work import Moment, Rules, Work

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MOMENT = Moment(now=NOW, jitter=0.5, rules=Rules())
TENANT = TenantId("acme")
COMMON_END = {OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.CANCELLED}


class Ending(Enum):
    """How one delivery of a command ends."""

    SUCCESS = "success"
    EMPTY = "empty"
    TRANSIENT = "transient"
    THROTTLED = "throttled"
    PERMANENT = "permanent"
    CRASH = "crash"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True)
class Told:
    """An event and the index of the event that caused its command; None for the first command."""

    event: AnyEvent
    cause: int | None


def replacement(*, has_active: bool) -> Work:
    """An operation that has just been accepted: a first upload, or a replacement of a version that serves."""
    space = Space(
        id=SpaceId("spc_1"),
        tenant_id=TENANT,
        code="manuals",
        name="Manuals",
        description=None,
        profile=ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="enterprise-long-document"),
        security_domain="internal",
        status=SpaceStatus.ACTIVE,
        lock_version=1,
        native_id="native-space",
        created_by=SubjectId("ana"),
        created_at=NOW,
        updated_at=NOW,
    )
    version = _version("ver_2", "op_1", number=2 if has_active else 1, status=VersionStatus.CREATED)
    active = _version("ver_1", "op_0", number=1, status=VersionStatus.READY) if has_active else None
    document = Document(
        id=DocumentId("doc_1"),
        tenant_id=TENANT,
        space_id=space.id,
        name="Pump manual",
        status=DocumentStatus.ACTIVE if has_active else DocumentStatus.CREATING,
        metadata=DocumentMetadata().to_output(),
        lock_version=4,
        active_version_id=None if active is None else active.id,
        candidate_version_id=version.id,
        last_version_number=version.number,
        created_by=SubjectId("ana"),
        created_at=NOW,
        updated_at=NOW,
    )
    operation = Operation(
        id=OperationId("op_1"),
        tenant_id=TENANT,
        type=OperationType.DOCUMENT_REPLACE if has_active else OperationType.DOCUMENT_UPLOAD,
        status=OperationStatus.PENDING,
        resource_type=ResourceType.DOCUMENT,
        resource_id=document.id,
        space_id=space.id,
        document_id=document.id,
        version_id=version.id,
        root_id=OperationId("op_1"),
        created_by=SubjectId("ana"),
        created_at=NOW,
        updated_at=NOW,
    )
    command = first_command(operation)
    assert command is not None
    return Work(
        operation=operation.issued(command, NOW), space=space, document=document, version=version, active=active
    )


def _version(version_id: str, operation_id: str, *, number: int, status: VersionStatus) -> Version:
    return Version(
        id=VersionId(version_id),
        tenant_id=TENANT,
        space_id=SpaceId("spc_1"),
        document_id=DocumentId("doc_1"),
        operation_id=OperationId(operation_id),
        number=number,
        change_type=ChangeType.REPLACE if number > 1 else ChangeType.INITIAL_UPLOAD,
        status=status,
        file_id=FileId("fil_1"),
        source=SourceFile(
            object_key="objects/aa/1", size=3, sha256="a" * 64, content_type="text/plain", file_name="a.txt"
        ),
        created_at=NOW,
        updated_at=NOW,
    )


def report(command: CommandId, ending: Ending, run: str) -> list[AnyEvent]:
    """What a worker publishes for one delivery: two hints and the terminal event."""

    def common(number: int) -> dict[str, object]:
        return {
            "event_id": command.event(run, number),
            "command_id": str(command),
            "owner_id": command.owner,
            "step": command.step,
            "tenant_id": TENANT,
            "occurred_at": NOW,
        }

    started = StepStarted.model_validate(common(1))
    progressed = StepProgressed.model_validate({**common(2), "percent": 40})
    return [started, progressed, _terminal(command, ending, common(3))]


def _terminal(command: CommandId, ending: Ending, common: dict[str, object]) -> AnyEvent:
    if ending is Ending.SHUTDOWN:
        return StepInterrupted.model_validate({**common, "reason": InterruptReason.SHUTDOWN})
    if ending is Ending.CRASH:
        return StepInterrupted.model_validate({**common, "reason": InterruptReason.CRASH})
    if ending in {Ending.SUCCESS, Ending.EMPTY}:
        result = (
            VersionUploaded(native_document_id="native-1")
            if command.step is Step.UPLOAD
            else VersionIngested(
                native_document_id="native-1",
                done=True,
                chunk_count=0 if ending is Ending.EMPTY else 7,
                probe_found=True,
            )
        )
        return StepSucceeded.model_validate({**common, "result": result})
    failure_class, reason = {
        Ending.TRANSIENT: (FailureClass.TRANSIENT, FailureReason.PROVIDER_UNAVAILABLE),
        Ending.THROTTLED: (FailureClass.THROTTLED, FailureReason.PROVIDER_THROTTLED),
        Ending.PERMANENT: (FailureClass.PERMANENT, FailureReason.FILE_ENCRYPTED),
    }[ending]
    return StepFailed.model_validate({**common, "failure_class": failure_class, "reason": reason, "text": "No."})


def run_through(work: Work, endings: Iterable[Ending]) -> tuple[Work, list[Told]]:
    """The plain run: each command is answered once and in order. Returns the end and all that was told."""
    told: list[Told] = []
    cause: int | None = None
    plan = iter(endings)
    while not work.operation.is_over:
        command = work.operation.work
        assert command is not None
        for event in report(command, next(plan, Ending.SUCCESS), run="a"):
            told.append(Told(event, cause))
            work = project(work, event, MOMENT).work
        cause = len(told) - 1
    return work, told


def retell(work: Work, told: list[Told], rng: random.Random, *, keep_hints: float) -> Work:
    """Tell it again out of order: an event only follows its cause, each may come twice, hints may get lost."""
    seen: set[str] = set()
    waiting = [i for i, t in enumerate(told) if t.event.type not in HINTS or rng.random() < keep_hints]
    waiting += [i for i in waiting if rng.random() < 0.5]
    delivered: set[int] = set()
    while waiting:
        ready = [i for i in waiting if told[i].cause is None or told[i].cause in delivered]
        index = rng.choice(ready)
        waiting.remove(index)
        delivered.add(index)
        event = told[index].event
        if event.event_id not in seen:
            seen.add(event.event_id)
            work = project(work, event, MOMENT).work
    return work


def essence(work: Work) -> tuple[object, ...]:
    """Everything but the hints' own traces: states, pointers, counters, reasons and what is due when."""
    operation, document, version, active = work.operation, work.document, work.version, work.active
    assert document is not None
    assert version is not None
    return (
        replace(operation, started_at=None, heard_at=None),
        document,
        replace(version, progress_percent=None, progress_updated_at=None, processing_started_at=None),
        active,
    )


endings = st.lists(st.sampled_from(Ending), max_size=12)


@given(
    endings=endings, seed=st.integers(0, 2**32), keep_hints=st.sampled_from([0.0, 0.5, 1.0]), has_active=st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_any_order_any_duplicate_and_any_loss_of_hints_lead_to_the_same_end(
    endings: list[Ending], seed: int, keep_hints: float, has_active: bool
) -> None:
    start = replacement(has_active=has_active)
    end, told = run_through(start, endings)
    again = retell(start, told, random.Random(seed), keep_hints=keep_hints)
    assert essence(again) == essence(end)


@given(endings=endings, has_active=st.booleans())
@settings(max_examples=100, deadline=None)
def test_every_operation_ends_once_with_what_its_end_promises(endings: list[Ending], has_active: bool) -> None:
    end, _ = run_through(replacement(has_active=has_active), endings)
    document, version = end.candidate()
    assert end.operation.status in COMMON_END
    assert end.operation.retry_count <= 5
    assert end.operation.work is None
    if end.operation.status is OperationStatus.SUCCEEDED:
        assert (document.active_version_id, document.candidate_version_id) == (version.id, None)
        assert (version.status, document.status) == (VersionStatus.READY, DocumentStatus.ACTIVE)
        assert end.active is None or end.active.status is VersionStatus.RETIRED
    else:
        assert version.status is VersionStatus.FAILED
        assert document.candidate_version_id == version.id
        assert document.status is (DocumentStatus.ACTIVE if has_active else DocumentStatus.CREATE_FAILED)
        assert end.active is None or end.active.status is VersionStatus.READY


@given(endings=endings, second=st.sampled_from(Ending), at=st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_the_first_terminal_event_of_a_command_decides_whatever_a_second_delivery_reports(
    endings: list[Ending], second: Ending, at: int
) -> None:
    start = replacement(has_active=True)
    end, told = run_through(start, endings)
    commands = list(dict.fromkeys(t.event.command_id for t in told))
    doubled = commands[at % len(commands)]
    work = start
    for item in told:
        work = project(work, item.event, MOMENT).work
        if item.event.command_id == doubled and item.event.type not in HINTS:
            for late in report(CommandId.parse(doubled), second, run="b"):
                projected = project(work, late, MOMENT)
                assert projected.is_skipped
                work = projected.work
    assert essence(work) == essence(end)


@given(endings=endings, at=st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_a_lost_terminal_event_is_made_up_by_publishing_the_command_again(endings: list[Ending], at: int) -> None:
    start = replacement(has_active=True)
    end, told = run_through(start, endings)
    commands = list(dict.fromkeys(t.event.command_id for t in told))
    lost = commands[at % len(commands)]
    plan = dict(zip(commands, endings + [Ending.SUCCESS] * len(commands), strict=False))
    work = start
    for item in told:
        if item.event.command_id == lost and item.event.type not in HINTS:
            for event in report(CommandId.parse(lost), plan[lost], run="b"):
                work = project(work, event, MOMENT).work
        else:
            work = project(work, item.event, MOMENT).work
    assert essence(work) == essence(end)


def test_a_deploy_does_not_count_as_a_retry_and_a_crash_does() -> None:
    start = replacement(has_active=False)
    deployed, _ = run_through(start, [Ending.SHUTDOWN] * 20)
    crashed, _ = run_through(start, [Ending.CRASH] * 2)
    assert (deployed.operation.status, deployed.operation.retry_count) == (OperationStatus.SUCCEEDED, 0)
    assert (crashed.operation.status, crashed.operation.retry_count) == (OperationStatus.SUCCEEDED, 2)


def test_retries_are_at_most_five_over_all_steps() -> None:
    upload_fails_twice = [Ending.TRANSIENT, Ending.TRANSIENT, Ending.SUCCESS]
    saved, _ = run_through(replacement(has_active=False), [*upload_fails_twice, *[Ending.EMPTY] * 3])
    lost, _ = run_through(replacement(has_active=False), [*upload_fails_twice, *[Ending.EMPTY] * 4])
    assert (saved.operation.status, saved.operation.retry_count) == (OperationStatus.SUCCEEDED, 5)
    assert (lost.operation.status, lost.operation.retry_count) == (OperationStatus.FAILED, 5)
    assert lost.operation.is_retryable


def test_what_cannot_succeed_costs_no_retry() -> None:
    end, _ = run_through(replacement(has_active=False), [Ending.PERMANENT])
    assert (end.operation.status, end.operation.retry_count) == (OperationStatus.FAILED, 0)
    assert not end.operation.is_retryable


def test_a_throttling_provider_is_given_the_time_it_asks_for() -> None:
    work = replacement(has_active=False)
    command = work.operation.work
    assert command is not None
    event = StepFailed.model_validate(
        {
            **_terminal(command, Ending.THROTTLED, dict(report(command, Ending.THROTTLED, "a")[2])).model_dump(),
            "retry_after_seconds": 90.0,
        }
    )
    projected = project(work, event, MOMENT)
    assert projected.issue is not None
    assert projected.issue.due_at == NOW + timedelta(seconds=90)
    assert projected.work.operation.next_retry_at == NOW + timedelta(seconds=90)


def leaving(work: Work) -> Work:
    """The work once its document is being deleted."""
    assert work.document is not None
    return replace(work, document=replace(work.document, status=DocumentStatus.DELETING))


def test_nothing_more_is_begun_for_a_document_that_is_being_deleted() -> None:
    for ending in (Ending.SUCCESS, Ending.TRANSIENT, Ending.CRASH, Ending.SHUTDOWN):
        work = leaving(replacement(has_active=False))
        upload = work.operation.work
        assert upload is not None
        projected = project(work, report(upload, ending, "a")[2], MOMENT)
        assert projected.issue is None
        assert projected.work.operation.status is OperationStatus.CANCELLED


def test_a_success_for_a_document_that_is_being_deleted_ends_cancelled_and_is_purged() -> None:
    work = replacement(has_active=False)
    upload = work.operation.work
    assert upload is not None
    work = project(work, report(upload, Ending.SUCCESS, "a")[2], MOMENT).work
    ingest = work.operation.work
    assert ingest is not None
    projected = project(leaving(work), report(ingest, Ending.SUCCESS, "a")[2], MOMENT)
    _, version = projected.work.candidate()
    assert projected.work.operation.status is OperationStatus.CANCELLED
    assert version.status is VersionStatus.CANCELLED
    assert [order.version_id for order in projected.purges] == [version.id]
