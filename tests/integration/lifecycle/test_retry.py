"""Manual retries: from the step that failed, only the newest of a tree, at most three of a root."""

import asyncio
from dataclasses import replace

import pytest

from shared.contracts.enums import (
    DocumentStatus,
    FailureClass,
    FailureReason,
    OperationStatus,
    OperationType,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.events import SpaceProvisioned, VersionUploaded
from shared.contracts.ids import OperationId
from shared.database.errors import UniqueViolation
from shared.database.operations import insert_operations
from shared.database.spaces import load_spaces
from shared.domain.errors import Forbidden, NotRetryable, OperationNotFound, RetryLimitReached
from shared.lifecycle.acceptance import Accepted
from tests.integration.lifecycle.bench import ANA, Bench, as_caller, verified

pytestmark = pytest.mark.anyio


async def give_up(bench: Bench, operation_id: OperationId) -> None:
    """Fail every attempt of the current step until the operation has no retries left."""
    while (work := (await bench.operation(operation_id)).work) is not None:
        await bench.tell(bench.failed(str(work), FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))


async def failed_upload(bench: Bench) -> Accepted:
    """An upload that is out of automatic retries."""
    accepted = await bench.upload(await bench.active_space())
    await give_up(bench, accepted.work.operation.id)
    return accepted


async def test_a_retry_is_a_child_that_begins_anew_on_the_same_version(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    root, version, document = accepted.work.operation, accepted.work.version, accepted.work.document
    assert document is not None
    assert version is not None
    again = (await bench.retry(root.id)).work.operation
    assert again.id != root.id
    assert (again.type, again.resource_id) == (OperationType.DOCUMENT_UPLOAD, document.id)
    assert (again.parent_id, again.root_id, again.manual_attempt) == (root.id, root.id, 1)
    assert (again.status, again.retry_count, str(again.work)) == (OperationStatus.PENDING, 0, f"{again.id}.upload.1.1")
    assert again.version_id == version.id
    assert not (await bench.operation(root.id)).is_retryable

    then = await bench.document(document.id)
    assert (then.status, then.lock_version) == (DocumentStatus.CREATING, 1)
    await bench.finish(again.id)
    then = await bench.document(document.id)
    assert (then.status, then.active_version_id, then.lock_version) == (DocumentStatus.ACTIVE, version.id, 2)
    assert (await bench.operation(root.id)).status is OperationStatus.FAILED


async def test_what_had_succeeded_before_the_failure_is_not_repeated(bench: Bench) -> None:
    accepted = await bench.upload(await bench.active_space())
    operation_id = accepted.work.operation.id
    await bench.tell(bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    await give_up(bench, operation_id)
    again = await bench.retry(operation_id)
    assert again.command.step is Step.INGEST
    assert b'"nativeDocumentId":"n-1"' in again.command.body
    version = await bench.version(accepted.work.version.id if accepted.work.version else "")
    assert (version.status, version.native_document_id) == (VersionStatus.UPLOADED, "n-1")
    assert (version.operation_id, version.failure_reason) == (again.work.operation.id, None)


async def test_a_document_whose_retry_fails_is_create_failed_again(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    again = await bench.retry(accepted.work.operation.id)
    await give_up(bench, again.work.operation.id)
    assert again.work.document is not None
    assert (await bench.document(again.work.document.id)).status is DocumentStatus.CREATE_FAILED


async def test_three_retries_are_all_that_a_root_has_whichever_of_its_tree_is_retried(bench: Bench) -> None:
    operation_id = root = (await failed_upload(bench)).work.operation.id
    for attempt in (1, 2, 3):
        child = (await bench.retry(operation_id)).work.operation
        assert (child.parent_id, child.root_id, child.manual_attempt) == (operation_id, root, attempt)
        await give_up(bench, child.id)
        operation_id = child.id
    assert not (await bench.operation(operation_id)).is_retryable
    with pytest.raises(RetryLimitReached):
        await bench.retry(operation_id)


async def test_only_the_newest_of_a_tree_can_be_retried(bench: Bench) -> None:
    root = (await failed_upload(bench)).work.operation.id
    child = (await bench.retry(root)).work.operation.id
    with pytest.raises(NotRetryable, match="retried already"):
        await bench.retry(root)
    await give_up(bench, child)
    with pytest.raises(NotRetryable, match="retried already"):
        await bench.retry(root)


async def test_only_what_failed_and_may_succeed_can_be_retried(bench: Bench) -> None:
    space_id = await bench.active_space()
    runs = await bench.upload(space_id, "runs")
    with pytest.raises(NotRetryable, match="PENDING"):
        await bench.retry(runs.work.operation.id)
    await bench.cancel(runs.work.operation.id)
    with pytest.raises(NotRetryable, match="CANCELLED"):
        await bench.retry(runs.work.operation.id)
    hopeless = await bench.upload(space_id, "hopeless")
    await bench.tell(bench.failed(hopeless.command.command_id, FailureReason.NO_TEXT, FailureClass.PERMANENT))
    with pytest.raises(NotRetryable, match="fail again"):
        await bench.retry(hopeless.work.operation.id)


async def test_what_gave_up_its_slot_cannot_be_retried(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    assert accepted.work.document is not None
    await bench.replace(accepted.work.document.id, expected=0)
    with pytest.raises(NotRetryable):
        await bench.retry(accepted.work.operation.id)


async def test_nothing_of_a_deleted_document_can_be_retried(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    assert accepted.work.document is not None
    deleting = await bench.delete(accepted.work.document.id, expected=0)
    with pytest.raises(NotRetryable):
        await bench.retry(accepted.work.operation.id)
    with pytest.raises(NotRetryable, match="DOCUMENT_DELETE"):
        await bench.retry(deleting.work.operation.id)


async def test_a_space_that_could_not_be_created_is_created_again(bench: Bench) -> None:
    accepted = await bench.create_space()
    await give_up(bench, accepted.work.operation.id)
    again = await bench.retry(accepted.work.operation.id)
    assert again.command.step is Step.PROVISION
    assert (again.work.space.status, again.work.operation.parent_id) == (
        SpaceStatus.CREATING,
        accepted.work.operation.id,
    )
    await bench.tell(bench.succeeded(again.command.command_id, SpaceProvisioned(native_space_id="n")))
    spaces = await bench.database.read(lambda conn: load_spaces(conn, {again.work.space.id}))
    assert spaces[again.work.space.id].status is SpaceStatus.ACTIVE


async def test_of_two_retries_at_once_one_is_taken_on(bench: Bench) -> None:
    """Both lock the document, so the second sees the first; should it not, the database refuses it."""
    accepted = await failed_upload(bench)
    again = await bench.retry(accepted.work.operation.id)
    twin = replace(again.work.operation, id=OperationId("op_twin"))
    with pytest.raises(UniqueViolation) as refused:
        await bench.write(lambda conn: insert_operations(conn, [twin]))
    assert refused.value.constraint == "operation_one_at_a_time"


async def test_of_retries_that_are_asked_for_at_once_one_is_taken_on_and_never_more_than_three_of_a_root(
    bench: Bench,
) -> None:
    operation_id = root = (await failed_upload(bench)).work.operation.id
    for _ in range(3):
        answers = await asyncio.gather(*(bench.retry(operation_id) for _ in range(4)), return_exceptions=True)
        (taken,) = [answer for answer in answers if isinstance(answer, Accepted)]
        assert sum(isinstance(answer, NotRetryable) for answer in answers) == 3
        operation_id = taken.work.operation.id
        await give_up(bench, operation_id)
    answers = await asyncio.gather(*(bench.retry(operation_id) for _ in range(4)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [RetryLimitReached] * 4
    assert await bench.rows(f"SELECT count(*) FROM operation WHERE root_id = '{root}'") == [(4,)]  # noqa: S608


async def test_a_retry_is_for_those_who_may_do_what_is_retried(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    with pytest.raises(OperationNotFound):
        await bench.retry(accepted.work.operation.id, as_caller("ben"))
    with pytest.raises(Forbidden):
        await bench.retry(accepted.work.operation.id, replace(ANA, roles=("knowledge-reader",)))


async def test_the_audit_tells_of_the_retry_and_of_what_it_retries(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    again = (await bench.retry(accepted.work.operation.id)).work.operation
    told = await bench.rows(
        "SELECT action, resource_id, parent_operation_id FROM audit_entry"
        " WHERE action IN ('OPERATION_RETRY', 'DOCUMENT_UPLOAD') ORDER BY id"
    )
    assert told == [
        ("DOCUMENT_UPLOAD", accepted.work.operation.id, None),
        ("OPERATION_RETRY", accepted.work.operation.id, None),
        ("DOCUMENT_UPLOAD", again.id, accepted.work.operation.id),
    ]


async def test_a_late_success_of_the_first_try_does_not_end_the_retry(bench: Bench) -> None:
    accepted = await failed_upload(bench)
    again = await bench.retry(accepted.work.operation.id)
    late = bench.succeeded(accepted.command.command_id, VersionUploaded(native_document_id="n-late"))
    assert (await bench.tell(late)).skipped == 1
    await bench.tell(bench.succeeded(again.command.command_id, VersionUploaded(native_document_id="n-1")))
    await bench.tell(bench.succeeded(f"{again.work.operation.id}.ingest.1.1", verified("n-1")))
    assert (await bench.operation(again.work.operation.id)).status is OperationStatus.SUCCEEDED
