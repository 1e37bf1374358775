"""Cancelling in every state, twice, and whatever comes afterwards. The same on both databases."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    InterruptReason,
    OperationStatus,
    VersionStatus,
)
from shared.contracts.events import AnyEvent, VersionUploaded
from shared.contracts.ids import OperationId
from shared.domain.errors import NotCancellable
from shared.domain.projection import RESULT_DISCARDED
from tests.integration.lifecycle.bench import Bench, verified

pytestmark = pytest.mark.anyio

Make = Callable[[Bench], Awaitable[OperationId]]


async def waiting(bench: Bench) -> OperationId:
    return (await bench.upload(await bench.active_space())).work.operation.id


async def published(bench: Bench) -> OperationId:
    operation_id = await waiting(bench)
    await bench.publish(operation_id)
    return operation_id


async def uploading(bench: Bench) -> OperationId:
    operation_id = await published(bench)
    await bench.tell(bench.event(f"{operation_id}.upload.1.1", EventType.STARTED))
    return operation_id


async def uploaded(bench: Bench) -> OperationId:
    operation_id = await uploading(bench)
    await bench.tell(bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    return operation_id


async def ingesting(bench: Bench) -> OperationId:
    operation_id = await uploaded(bench)
    await bench.publish(operation_id)
    await bench.tell(bench.event(f"{operation_id}.ingest.1.1", EventType.STARTED))
    return operation_id


async def waiting_for_a_retry(bench: Bench) -> OperationId:
    operation_id = await ingesting(bench)
    await bench.tell(unavailable(bench, f"{operation_id}.ingest.1.1"))
    return operation_id


async def succeeded(bench: Bench) -> OperationId:
    operation_id = await waiting(bench)
    await bench.finish(operation_id)
    return operation_id


async def failed(bench: Bench) -> OperationId:
    operation_id = await waiting(bench)
    await bench.tell(bench.failed(f"{operation_id}.upload.1.1", FailureReason.NO_TEXT, FailureClass.PERMANENT))
    return operation_id


async def retried_and_waiting(bench: Bench) -> OperationId:
    operation_id = await waiting(bench)
    for attempt in range(1, 7):
        await bench.tell(unavailable(bench, f"{operation_id}.upload.{attempt}.1"))
    return (await bench.retry(operation_id)).work.operation.id


def unavailable(bench: Bench, command_id: str) -> AnyEvent:
    return bench.failed(command_id, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT)


async def asked(bench: Bench, operation_id: OperationId) -> str:
    """How a cancel is answered."""
    try:
        operation = await bench.cancel(operation_id)
    except NotCancellable as refused:
        return f"{refused.code}: {refused.message}"
    return f"{operation.status}, cancelling" if operation.is_cancelling else operation.status.value


OVER = "OPERATION_NOT_CANCELLABLE: The operation has ended already, as {}."


@pytest.mark.parametrize(
    ("make", "first", "second"),
    [
        (waiting, "CANCELLED", OVER.format("CANCELLED")),
        (published, "PENDING, cancelling", "PENDING, cancelling"),
        (uploading, "RUNNING, cancelling", "RUNNING, cancelling"),
        (uploaded, "CANCELLED", OVER.format("CANCELLED")),
        (ingesting, "RUNNING, cancelling", "RUNNING, cancelling"),
        (waiting_for_a_retry, "CANCELLED", OVER.format("CANCELLED")),
        (retried_and_waiting, "CANCELLED", OVER.format("CANCELLED")),
        (succeeded, OVER.format("SUCCEEDED"), OVER.format("SUCCEEDED")),
        (failed, OVER.format("FAILED"), OVER.format("FAILED")),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_a_cancel_is_answered_in_every_state_also_the_second_time(
    bench: Bench, make: Make, first: str, second: str
) -> None:
    operation_id = await make(bench)
    assert (await asked(bench, operation_id), await asked(bench, operation_id)) == (first, second)
    cancels = [command for command in await bench.commands(operation_id) if ".cancel." in command]
    assert len(cancels) == (1 if "cancelling" in first else 0)


@pytest.mark.parametrize(
    "reports",
    [
        lambda bench, command: bench.event(command, EventType.STARTED),
        lambda bench, command: bench.event(command, EventType.PROGRESSED, percent=90),
        lambda bench, command: bench.succeeded(command, verified("n-1")),
        lambda bench, command: bench.failed(command, FailureReason.NO_TEXT, FailureClass.PERMANENT),
        unavailable,
        lambda bench, command: bench.interrupted(command, InterruptReason.SHUTDOWN),
        lambda bench, command: bench.interrupted(command, InterruptReason.CRASH),
        lambda bench, command: bench.event(command, EventType.CANCELLED),
        lambda bench, command: bench.event(command.replace("ingest", "cancel"), EventType.TOO_LATE),
    ],
    ids=["begins", "goes_on", "succeeds", "fails", "is_away", "stops", "crashes", "is_cancelled", "comes_too_late"],
)
async def test_what_is_cancelled_stays_so_whatever_is_reported_later(
    bench: Bench, reports: Callable[[Bench, str], AnyEvent]
) -> None:
    operation_id = await ingesting(bench)
    await bench.cancel(operation_id)
    await bench.tell(bench.event(f"{operation_id}.cancel.1.1", EventType.CANCELLED))
    told = await bench.tell(reports(bench, f"{operation_id}.ingest.1.1"))
    assert told.applied == 0
    assert (await bench.operation(operation_id)).status is OperationStatus.CANCELLED
    assert await bench.rows("SELECT status FROM document_version") == [(VersionStatus.CANCELLED.value,)]
    await bench.tell(bench.event(f"{operation_id}.ingest.1.1", EventType.CANCELLED))
    await bench.purge_all()
    assert await bench.rows("SELECT DISTINCT status FROM purge") == [("DONE",)]
    assert await bench.rows("SELECT count(*) FROM outbox") == [(0,)]


async def test_the_late_result_of_a_call_that_went_on_is_discarded_and_the_audit_tells(bench: Bench) -> None:
    operation_id = await uploading(bench)
    await bench.cancel(operation_id)
    await bench.tell(bench.event(f"{operation_id}.cancel.1.1", EventType.CANCELLED))
    assert await bench.issue_purges() == []  # the call goes on, and may still make a document

    late = bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-late"))
    assert (await bench.tell(late)).skipped == 1

    reasons = await bench.rows("SELECT reason, native_document_id FROM purge ORDER BY id")
    assert reasons == [("cancelled", None), ("leftover", "n-late")]
    told = await bench.rows(
        "SELECT actor, operation_id, before, after FROM audit_entry WHERE action = 'operation.result-discarded'"
    )
    assert told == [("projector", operation_id, "CANCELLED", "CANCELLED")]


async def test_a_result_that_is_told_once_more_and_left_nothing_is_not_audited(bench: Bench) -> None:
    operation_id = await succeeded(bench)
    again = bench.succeeded(f"{operation_id}.ingest.1.1", verified(f"native-{operation_id}"))
    assert (await bench.tell(again)).skipped == 1
    told = await bench.rows(f"SELECT count(*) FROM audit_entry WHERE action = '{RESULT_DISCARDED}'")  # noqa: S608
    assert told == [(0,)]


async def test_a_cancel_that_was_given_up_is_another_command_when_it_is_asked_for_again(bench: Bench) -> None:
    operation_id = await ingesting(bench)
    await bench.cancel(operation_id)
    bench.watch.advance(timedelta(minutes=15))
    await bench.tell(unavailable(bench, f"{operation_id}.cancel.1.1"))
    assert not (await bench.operation(operation_id)).is_cancelling
    late = await bench.tell(bench.event(f"{operation_id}.cancel.1.1", EventType.CANCELLED))
    assert (late.skipped, (await bench.operation(operation_id)).status) == (1, OperationStatus.RUNNING)

    await bench.cancel(operation_id)

    assert f"{operation_id}.cancel.2.1" in await bench.commands(operation_id)
    await bench.tell(bench.event(f"{operation_id}.cancel.2.1", EventType.CANCELLED))
    assert (await bench.operation(operation_id)).status is OperationStatus.CANCELLED


async def test_a_cancel_that_comes_too_late_leaves_the_work_to_its_own_end(bench: Bench) -> None:
    """The provider was done before it could be stopped, and what the worker has found is on its way."""
    operation_id = await ingesting(bench)
    await bench.cancel(operation_id)
    await bench.tell(bench.event(f"{operation_id}.cancel.1.1", EventType.TOO_LATE))
    assert (await bench.operation(operation_id)).status is OperationStatus.RUNNING
    await bench.tell(bench.succeeded(f"{operation_id}.ingest.1.1", verified("n-1")))
    assert (await bench.operation(operation_id)).status is OperationStatus.SUCCEEDED
    assert await bench.rows("SELECT status FROM document") == [(DocumentStatus.ACTIVE.value,)]
