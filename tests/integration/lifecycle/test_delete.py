"""Deleting documents: from every state, hidden at once, DELETED when nothing of them is left anywhere."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import (
    Action,
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    OperationStatus,
    OperationType,
    VersionStatus,
)
from shared.contracts.events import VersionUploaded
from shared.contracts.ids import DocumentId, OperationId
from shared.database.listings import view_document, visible_operation
from shared.domain.authorization import DEFAULT_ROLES, reach
from shared.domain.errors import DocumentNotFound, Forbidden, StaleVersion
from shared.lifecycle.switch_document import switch_document
from tests.integration.lifecycle.bench import ANA, Bench, as_caller, verified

pytestmark = pytest.mark.anyio

Make = Callable[[Bench], Awaitable[DocumentId]]


async def active(bench: Bench) -> DocumentId:
    return await bench.ingested(await bench.active_space())


async def disabled(bench: Bench) -> DocumentId:
    document_id = await active(bench)
    body = DocumentLockRequest(expected_version=1)
    await bench.write(
        lambda conn: switch_document(conn, document_id, body, bench.request(), bench.around, enabled=False)
    )
    return document_id


async def creating_and_waiting(bench: Bench) -> DocumentId:
    accepted = await bench.upload(await bench.active_space())
    assert accepted.work.document is not None
    return accepted.work.document.id


async def create_failed(bench: Bench) -> DocumentId:
    accepted = await bench.upload(await bench.active_space())
    await bench.tell(bench.failed(accepted.command.command_id, FailureReason.NO_TEXT, FailureClass.PERMANENT))
    assert accepted.work.document is not None
    return accepted.work.document.id


async def create_cancelled(bench: Bench) -> DocumentId:
    accepted = await bench.upload(await bench.active_space())
    await bench.cancel(accepted.work.operation.id)
    assert accepted.work.document is not None
    return accepted.work.document.id


async def active_with_a_waiting_candidate(bench: Bench) -> DocumentId:
    document_id = await active(bench)
    await bench.replace(document_id, expected=1)
    return document_id


async def active_with_a_failed_candidate(bench: Bench) -> DocumentId:
    document_id = await active(bench)
    accepted = await bench.replace(document_id, expected=1)
    await bench.tell(bench.failed(accepted.command.command_id, FailureReason.NO_TEXT, FailureClass.PERMANENT))
    return document_id


async def active_with_a_cancelled_candidate(bench: Bench) -> DocumentId:
    document_id = await active(bench)
    await bench.cancel((await bench.replace(document_id, expected=1)).work.operation.id)
    return document_id


async def active_after_a_replacement(bench: Bench) -> DocumentId:
    document_id = await active(bench)
    await bench.finish((await bench.replace(document_id, expected=1)).work.operation.id)
    return document_id


EVERY = (
    active,
    disabled,
    creating_and_waiting,
    create_failed,
    create_cancelled,
    active_with_a_waiting_candidate,
    active_with_a_failed_candidate,
    active_with_a_cancelled_candidate,
    active_after_a_replacement,
)


async def in_hand(bench: Bench) -> DocumentId:
    """An upload that a worker has."""
    accepted = await bench.upload(await bench.active_space())
    await bench.publish(accepted.work.operation.id)
    await bench.tell(bench.event(accepted.command.command_id, EventType.STARTED))
    assert accepted.work.document is not None
    return accepted.work.document.id


async def ingest_in_hand(bench: Bench) -> DocumentId:
    accepted = await bench.upload(await bench.active_space())
    operation_id = accepted.work.operation.id
    await bench.tell(bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    await bench.publish(operation_id)
    await bench.tell(bench.event(f"{operation_id}.ingest.1.1", EventType.PROGRESSED, percent=40))
    assert accepted.work.document is not None
    return accepted.work.document.id


async def cancelling(bench: Bench) -> DocumentId:
    document_id = await in_hand(bench)
    await bench.cancel(await running_on(bench))
    await bench.publish(await running_on(bench))
    return document_id


async def cancelling_in_vain(bench: Bench) -> DocumentId:
    """Its cancel was given up."""
    document_id = await in_hand(bench)
    operation_id = await running_on(bench)
    await bench.cancel(operation_id)
    bench.watch.advance(timedelta(minutes=15))
    await bench.tell(bench.failed(f"{operation_id}.cancel.1.1", FailureReason.STEP_DEADLINE, FailureClass.TRANSIENT))
    return document_id


async def replacement_in_hand(bench: Bench) -> DocumentId:
    document_id = await active(bench)
    await bench.publish((await bench.replace(document_id, expected=1)).work.operation.id)
    return document_id


BUSY = (in_hand, ingest_in_hand, cancelling, cancelling_in_vain, replacement_in_hand)


async def running_on(bench: Bench) -> OperationId:
    """The one operation that works on a version."""
    text = "SELECT id FROM operation WHERE status IN ('PENDING', 'RUNNING') AND type <> 'DOCUMENT_DELETE'"
    ((operation_id,),) = await bench.rows(text)
    return OperationId(str(operation_id))


async def is_seen(bench: Bench, document_id: DocumentId) -> bool:
    reached = reach(ANA, Action.DOCUMENT_VIEW, DEFAULT_ROLES)
    return await bench.database.read(lambda conn: view_document(conn, reached, document_id)) is not None


async def require_gone(bench: Bench, document_id: DocumentId) -> None:
    """Nothing of it is left, or on its way."""
    assert (await bench.document(document_id)).status is DocumentStatus.DELETED
    assert await bench.rows("SELECT DISTINCT status FROM document_version") == [("DELETED",)]
    assert await bench.rows("SELECT count(*) FROM outbox") == [(0,)]
    assert await bench.rows("SELECT DISTINCT status FROM purge") == [("DONE",)]


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
async def test_a_document_in_any_state_is_hidden_at_once_and_gone_when_it_is_purged(bench: Bench, make: Make) -> None:
    document_id = await make(bench)
    before = await bench.document(document_id)
    accepted = await bench.delete(document_id, expected=before.lock_version)
    delete = accepted.work.operation
    assert (delete.type, delete.status, delete.work) == (OperationType.DOCUMENT_DELETE, OperationStatus.RUNNING, None)
    after = await bench.document(document_id)
    assert (after.status, after.lock_version) == (DocumentStatus.DELETING, before.lock_version + 1)
    assert not await is_seen(bench, document_id)

    await bench.purge_all()
    await require_gone(bench, document_id)
    assert (await bench.operation(delete.id)).status is OperationStatus.SUCCEEDED
    reached = reach(ANA, Action.DOCUMENT_DELETE, DEFAULT_ROLES)
    assert await bench.database.read(lambda conn: visible_operation(conn, reached, delete.id)) is not None


@pytest.mark.parametrize("make", BUSY, ids=lambda make: make.__name__)
async def test_a_document_that_is_worked_on_is_hidden_at_once_and_gone_when_the_work_is_stopped(
    bench: Bench, make: Make
) -> None:
    document_id = await make(bench)
    operation_id = await running_on(bench)
    before = await bench.document(document_id)
    deleting = (await bench.delete(document_id, expected=before.lock_version)).work.operation
    assert deleting.status is OperationStatus.PENDING
    assert not await is_seen(bench, document_id)
    assert await bench.issue_purges() == []

    cancel, work = await bench.commands(operation_id)
    await bench.tell(bench.event(cancel, EventType.CANCELLED))
    assert (await bench.operation(operation_id)).status is OperationStatus.CANCELLED
    assert await bench.issue_purges() == [] or make is replacement_in_hand  # what served is in nobody's hands
    await bench.tell(bench.event(work, EventType.CANCELLED))
    await bench.purge_all()
    await require_gone(bench, document_id)
    assert (await bench.operation(deleting.id)).status is OperationStatus.SUCCEEDED


async def test_a_delete_waits_for_what_a_worker_has_in_hand(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    work, document = accepted.work.operation, accepted.work.document
    assert document is not None
    await bench.publish(work.id)
    deleting = (await bench.delete(document.id, expected=0)).work.operation
    assert deleting.status is OperationStatus.PENDING
    assert await bench.commands(work.id) == [f"{work.id}.cancel.1.1", f"{work.id}.upload.1.1"]
    assert await bench.issue_purges() == []

    await bench.publish(work.id)
    await bench.tell(bench.event(f"{work.id}.cancel.1.1", EventType.CANCELLED))
    assert (await bench.operation(work.id)).status is OperationStatus.CANCELLED
    assert (await bench.operation(deleting.id)).status is OperationStatus.RUNNING
    assert await bench.rows("SELECT reason, status, operation_id FROM purge") == [("deleted", "WAITING", deleting.id)]
    assert await bench.issue_purges() == []  # the upload may still be writing

    await bench.tell(bench.event(f"{work.id}.upload.1.1", EventType.CANCELLED))
    await bench.purge_all()
    await require_gone(bench, document.id)
    assert (await bench.operation(deleting.id)).status is OperationStatus.SUCCEEDED


async def test_a_success_that_comes_after_the_delete_never_serves_and_is_purged(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    work, document = accepted.work.operation, accepted.work.document
    assert document is not None
    await bench.tell(bench.succeeded(f"{work.id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    await bench.publish(work.id)
    deleting = (await bench.delete(document.id, expected=0)).work.operation
    await bench.tell(bench.succeeded(f"{work.id}.ingest.1.1", verified("n-1")))
    assert (await bench.operation(work.id)).status is OperationStatus.CANCELLED
    assert (await bench.document(document.id)).active_version_id is None
    await bench.tell(bench.event(f"{work.id}.cancel.1.1", EventType.TOO_LATE))
    await bench.purge_all()
    await require_gone(bench, document.id)
    assert (await bench.operation(deleting.id)).status is OperationStatus.SUCCEEDED


async def test_work_that_fails_on_a_document_that_is_being_deleted_is_not_tried_again(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    assert accepted.work.document is not None
    await bench.publish(accepted.work.operation.id)
    await bench.delete(accepted.work.document.id, expected=0)
    command = accepted.command.command_id
    await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
    assert (await bench.operation(accepted.work.operation.id)).status is OperationStatus.CANCELLED


async def test_a_cancel_for_a_delete_is_never_given_up(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    operation_id = accepted.work.operation.id
    assert accepted.work.document is not None
    await bench.publish(operation_id)
    await bench.delete(accepted.work.document.id, expected=0)
    bench.watch.advance(timedelta(hours=1))
    await bench.tell(bench.failed(f"{operation_id}.cancel.1.1", FailureReason.STEP_DEADLINE, FailureClass.TRANSIENT))
    assert f"{operation_id}.cancel.2.1" in await bench.commands(operation_id)


async def test_purges_that_fail_count_as_retries_of_the_delete_and_still_end_the_document(bench: Bench) -> None:
    document_id = await active(bench)
    deleting = (await bench.delete(document_id, expected=1)).work.operation
    seen = []
    for _ in range(6):
        bench.watch.advance(timedelta(hours=1))
        (command,) = await bench.issue_purges()
        await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
        delete = await bench.operation(deleting.id)
        wait = None if delete.next_retry_at is None else delete.next_retry_at - bench.watch.now
        seen.append((delete.status.value, delete.retry_count, wait))
    assert seen == [
        ("RUNNING", 1, timedelta(seconds=1.5)),
        ("RUNNING", 2, timedelta(seconds=3)),
        ("RUNNING", 3, timedelta(seconds=6)),
        ("RUNNING", 4, timedelta(seconds=12)),
        ("RUNNING", 5, timedelta(seconds=24)),
        ("FAILED", 5, None),
    ]
    failed = await bench.operation(deleting.id)
    assert (failed.failure_reason, failed.is_retryable) == (FailureReason.PROVIDER_UNAVAILABLE, False)
    assert (await bench.document(document_id)).status is DocumentStatus.DELETING
    assert not await is_seen(bench, document_id)

    bench.watch.advance(timedelta(hours=1))
    await bench.purge_all()
    assert (await bench.document(document_id)).status is DocumentStatus.DELETED
    assert (await bench.operation(deleting.id)).status is OperationStatus.FAILED


async def test_a_purge_that_is_out_already_is_waited_for(bench: Bench) -> None:
    document_id = await active_after_a_replacement(bench)
    bench.watch.advance(timedelta(hours=1))
    (retired,) = await bench.issue_purges()
    await bench.delete(document_id, expected=3)
    issued = await bench.issue_purges()
    assert retired in issued
    versions = await bench.rows("SELECT version_id FROM purge WHERE status = 'ISSUED'")
    assert len(versions) == len(set(versions)) == 2
    await bench.tell(*(bench.event(command, EventType.PURGED) for command in issued))
    await bench.purge_all()
    await require_gone(bench, document_id)


async def test_the_grace_of_a_retired_version_ends_with_its_document(bench: Bench) -> None:
    document_id = await active_after_a_replacement(bench)
    await bench.delete(document_id, expected=3)
    assert await bench.rows("SELECT count(*), count(operation_id) FROM purge") == [(2, 2)]
    assert len(await bench.issue_purges()) == 2


async def test_the_file_goes_with_the_last_document_that_needs_it(bench: Bench) -> None:
    space_id = await bench.active_space()
    first, second = await bench.ingested(space_id, "same"), await bench.ingested(space_id, "same")
    bench.watch.advance(timedelta(hours=25))  # nobody may name the upload any more
    await bench.delete(first, expected=1)
    await bench.purge_all()
    assert await bench.rows("SELECT count(*) FROM file") == [(1,)]
    await bench.delete(second, expected=1)
    await bench.purge_all()
    assert await bench.rows("SELECT count(*) FROM file") == [(0,)]


async def test_a_delete_from_an_old_reading_is_refused(bench: Bench) -> None:
    document_id = await active(bench)
    with pytest.raises(StaleVersion):
        await bench.delete(document_id, expected=0)
    assert (await bench.document(document_id)).status is DocumentStatus.ACTIVE


async def test_what_is_being_deleted_is_not_there_for_a_second_delete(bench: Bench) -> None:
    document_id = await active(bench)
    await bench.delete(document_id, expected=1)
    with pytest.raises(DocumentNotFound):
        await bench.delete(document_id, expected=2)
    with pytest.raises(DocumentNotFound):
        await bench.replace(document_id, expected=2)


async def test_a_delete_is_for_those_who_may(bench: Bench) -> None:
    document_id = await active(bench)
    with pytest.raises(DocumentNotFound):
        await bench.delete(document_id, 1, as_caller("ben"))
    with pytest.raises(Forbidden):
        await bench.delete(document_id, 1, as_caller("ana", roles=("knowledge-maintainer",)))


async def test_every_transition_of_a_delete_is_audited(bench: Bench) -> None:
    document_id = await active(bench)
    await bench.delete(document_id, expected=1)
    await bench.purge_all()
    told = await bench.rows(
        "SELECT action, actor, before, after FROM audit_entry WHERE after = 'DELETED'"
        " OR operation_id IN (SELECT id FROM operation WHERE type = 'DOCUMENT_DELETE') ORDER BY id"
    )
    assert told == [
        ("DOCUMENT_DELETE", "api", None, "PENDING"),
        ("document.deleting", "api", "ACTIVE", "DELETING"),
        ("operation.running", "api", "PENDING", "RUNNING"),
        ("version.deleted", "projector", "READY", "DELETED"),
        ("operation.succeeded", "projector", "RUNNING", "SUCCEEDED"),
        ("document.deleted", "projector", "DELETING", "DELETED"),
    ]


async def test_a_version_of_a_deleted_document_that_appears_late_is_purged_by_its_id(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    assert accepted.work.document is not None
    await bench.delete(accepted.work.document.id, expected=0)
    await bench.purge_all()
    await bench.tell(bench.succeeded(accepted.command.command_id, VersionUploaded(native_document_id="n-late")))
    left = "SELECT reason, native_document_id FROM purge WHERE status = 'WAITING'"
    assert await bench.rows(left) == [("leftover", "n-late")]
    assert (await bench.document(accepted.work.document.id)).status is DocumentStatus.DELETED
    version = await bench.version(accepted.work.version.id if accepted.work.version else "")
    assert version.status is VersionStatus.DELETED
