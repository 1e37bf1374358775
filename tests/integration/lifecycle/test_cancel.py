"""Cancelling: at once when no worker has the command, confirmed otherwise, and never after the end."""

from datetime import timedelta

import pytest

from shared.contracts.commands import CancelOperation
from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    InterruptReason,
    OperationStatus,
    VersionStatus,
)
from shared.contracts.events import VersionUploaded
from shared.database.outbox import find_commands
from shared.domain.errors import Forbidden, NotCancellable, OperationNotFound
from shared.lifecycle.acceptance import Accepted
from tests.integration.lifecycle.bench import Bench, as_caller, verified

pytestmark = pytest.mark.anyio


async def running(bench: Bench) -> Accepted:
    """An upload whose first command a worker has."""
    accepted = await bench.upload(await bench.active_space())
    await bench.publish(accepted.work.operation.id)
    await bench.tell(bench.event(accepted.command.command_id, EventType.STARTED))
    return accepted


async def statuses(bench: Bench, accepted: Accepted) -> tuple[OperationStatus, VersionStatus, DocumentStatus]:
    assert accepted.work.version is not None
    assert accepted.work.document is not None
    operation = await bench.operation(accepted.work.operation.id)
    version = await bench.version(accepted.work.version.id)
    return operation.status, version.status, (await bench.document(accepted.work.document.id)).status


CANCELLED = (OperationStatus.CANCELLED, VersionStatus.CANCELLED, DocumentStatus.CREATE_FAILED)


async def test_what_waits_for_its_turn_is_cancelled_at_once_and_its_command_withdrawn(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    answered = await bench.cancel(accepted.work.operation.id)
    assert answered.status is OperationStatus.CANCELLED
    assert await statuses(bench, accepted) == CANCELLED
    assert await bench.commands(accepted.work.operation.id) == []
    assert await bench.rows("SELECT reason, native_document_id FROM purge") == [("cancelled", None)]


async def test_what_waits_for_a_retry_is_cancelled_at_once(bench: Bench) -> None:
    accepted = await running(bench)
    command = accepted.command.command_id
    await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
    await bench.cancel(accepted.work.operation.id)
    assert await statuses(bench, accepted) == CANCELLED
    assert await bench.commands(accepted.work.operation.id) == []


async def test_what_a_worker_has_goes_on_until_a_worker_confirms_the_cancel(bench: Bench) -> None:
    accepted = await running(bench)
    operation_id = accepted.work.operation.id
    answered = await bench.cancel(operation_id)
    assert (answered.status, answered.is_cancelling) == (OperationStatus.RUNNING, True)
    assert await bench.commands(operation_id) == [f"{operation_id}.cancel.1.1", f"{operation_id}.upload.1.1"]
    rows = await bench.database.read(lambda conn: find_commands(conn, {operation_id}))
    sent = CancelOperation.model_validate_json(next(row.body for row in rows if row.step == "cancel"))
    assert sent.work_command_id == f"{operation_id}.upload.1.1"

    await bench.tell(bench.event(f"{operation_id}.cancel.1.1", EventType.CANCELLED))
    assert await statuses(bench, accepted) == CANCELLED
    assert await bench.issue_purges() == []  # the upload may still be writing
    await bench.tell(bench.event(f"{operation_id}.upload.1.1", EventType.CANCELLED))
    assert len(await bench.issue_purges()) == 1


async def test_a_second_cancel_is_answered_and_changes_nothing(bench: Bench) -> None:
    accepted = await running(bench)
    first = await bench.cancel(accepted.work.operation.id)
    bench.watch.advance(timedelta(seconds=5))
    assert await bench.cancel(accepted.work.operation.id) == first
    assert len(await bench.commands(accepted.work.operation.id)) == 2


async def test_a_success_that_was_faster_counts_and_the_cancel_is_skipped(bench: Bench) -> None:
    accepted = await running(bench)
    operation_id = accepted.work.operation.id
    await bench.tell(bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    await bench.publish(operation_id)
    await bench.cancel(operation_id)
    await bench.tell(bench.succeeded(f"{operation_id}.ingest.1.1", verified("n-1")))
    told = await bench.tell(bench.event(f"{operation_id}.cancel.1.1", EventType.CANCELLED))
    assert (told.applied, told.skipped) == (0, 1)
    expected = (OperationStatus.SUCCEEDED, VersionStatus.READY, DocumentStatus.ACTIVE)
    assert await statuses(bench, accepted) == expected
    assert await bench.commands(operation_id) == []


async def test_an_upload_that_succeeds_while_it_is_cancelled_goes_no_further(bench: Bench) -> None:
    accepted = await running(bench)
    operation_id = accepted.work.operation.id
    await bench.cancel(operation_id)
    await bench.tell(bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    assert await statuses(bench, accepted) == CANCELLED


async def test_a_deploy_ends_what_is_being_cancelled(bench: Bench) -> None:
    accepted = await running(bench)
    operation_id = accepted.work.operation.id
    await bench.cancel(operation_id)
    await bench.tell(bench.interrupted(f"{operation_id}.upload.1.1", InterruptReason.SHUTDOWN))
    assert await statuses(bench, accepted) == CANCELLED


async def test_the_success_of_a_command_that_went_out_unnoted_is_skipped_and_purged(bench: Bench) -> None:
    """The dispatcher publishes first and notes it afterwards; in between the cancel sees a command that waits."""
    accepted = await bench.upload(await bench.active_space())
    await bench.cancel(accepted.work.operation.id)
    await bench.purge_all()
    late = bench.succeeded(accepted.command.command_id, VersionUploaded(native_document_id="n-late"))
    told = await bench.tell(late)
    assert (told.applied, told.skipped) == (0, 1)
    assert await statuses(bench, accepted) == CANCELLED
    left = "SELECT reason, native_document_id FROM purge WHERE status = 'WAITING'"
    assert await bench.rows(left) == [("leftover", "n-late")]


async def test_the_failure_of_a_command_that_went_out_unnoted_is_purged_by_name(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    await bench.cancel(accepted.work.operation.id)
    await bench.purge_all()
    await bench.tell(bench.failed(accepted.command.command_id, FailureReason.STEP_DEADLINE, FailureClass.TRANSIENT))
    left = "SELECT reason, native_document_id FROM purge WHERE status = 'WAITING'"
    assert await bench.rows(left) == [("leftover", None)]


async def test_a_cancelled_replacement_leaves_the_document_as_it_was(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    before = await bench.document(document_id)
    accepted = await bench.replace(document_id, expected=1)
    await bench.cancel(accepted.work.operation.id)
    after = await bench.document(document_id)
    assert (after.status, after.active_version_id) == (DocumentStatus.ACTIVE, before.active_version_id)
    assert after.lock_version == 2  # accepting the replacement has raised it, the cancel does not


async def test_what_is_over_tells_so_when_it_is_to_be_cancelled(bench: Bench) -> None:
    space_id = await bench.active_space()
    done = await bench.upload(space_id, "done")
    await bench.finish(done.work.operation.id)
    with pytest.raises(NotCancellable, match="SUCCEEDED"):
        await bench.cancel(done.work.operation.id)
    stopped = await bench.upload(space_id, "stopped")
    await bench.cancel(stopped.work.operation.id)
    with pytest.raises(NotCancellable, match="CANCELLED"):
        await bench.cancel(stopped.work.operation.id)


async def test_only_work_on_a_version_can_be_cancelled(bench: Bench) -> None:
    creating = await bench.create_space("creating")
    with pytest.raises(NotCancellable, match="Only an upload"):
        await bench.cancel(creating.work.operation.id)
    document_id = await bench.ingested(await bench.active_space())
    deleting = await bench.delete(document_id, expected=1)
    with pytest.raises(NotCancellable, match="Only an upload"):
        await bench.cancel(deleting.work.operation.id)


async def test_a_cancel_is_for_those_who_may_do_what_is_cancelled(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    with pytest.raises(OperationNotFound):
        await bench.cancel(accepted.work.operation.id, as_caller("ben"))
    with pytest.raises(Forbidden):
        await bench.cancel(accepted.work.operation.id, as_caller("ana", roles=("knowledge-reader",)))
    assert not (await bench.operation(accepted.work.operation.id)).is_cancelling


async def test_a_cancel_that_fails_is_tried_again_until_its_time_is_up_and_then_given_up(bench: Bench) -> None:
    accepted = await running(bench)
    operation_id = accepted.work.operation.id
    await bench.cancel(operation_id)
    await bench.tell(
        bench.failed(f"{operation_id}.cancel.1.1", FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT)
    )
    assert f"{operation_id}.cancel.2.1" in await bench.commands(operation_id)
    bench.watch.advance(timedelta(minutes=15))
    await bench.tell(bench.failed(f"{operation_id}.cancel.2.1", FailureReason.STEP_DEADLINE, FailureClass.TRANSIENT))

    operation = await bench.operation(operation_id)
    assert (operation.status, operation.is_cancelling) == (OperationStatus.RUNNING, False)
    assert operation.retry_count == 0
    assert await bench.commands(operation_id) == [f"{operation_id}.upload.1.1"]
    told = await bench.rows("SELECT action FROM audit_entry WHERE action = 'operation.cancel-given-up'")
    assert told == [("operation.cancel-given-up",)]
    await bench.finish(operation_id)
    assert (await bench.operation(operation_id)).status is OperationStatus.SUCCEEDED


async def test_the_audit_tells_who_cancelled_and_why(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    await bench.cancel(accepted.work.operation.id)
    told = await bench.rows(
        "SELECT action, subject, before, after, resource_type FROM audit_entry"
        " WHERE after IN ('CANCELLED', 'CREATE_FAILED') ORDER BY id"
    )
    assert told == [
        ("OPERATION_CANCEL", "ana", "PENDING", "CANCELLED", "OPERATION"),
        ("document.create_failed", "ana", "CREATING", "CREATE_FAILED", "DOCUMENT"),
        ("version.cancelled", "ana", "CREATED", "CANCELLED", "VERSION"),
    ]
    reasons = await bench.rows("SELECT details FROM audit_entry WHERE action = 'OPERATION_CANCEL'")
    assert "It was the wrong file." in str(reasons[0][0])
