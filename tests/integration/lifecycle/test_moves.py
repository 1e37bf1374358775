"""What requests and events make of the tables, the outbox, the purges and the audit; the same on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    InterruptReason,
    OperationStatus,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.events import VersionUploaded
from shared.contracts.ids import FileResourceId, OperationId
from shared.database.errors import UniqueViolation
from shared.database.operations import insert_operations
from shared.database.outbox import find_commands
from shared.database.spaces import load_spaces
from shared.domain.errors import Conflict, Forbidden, NotFound, OperationPending, StaleVersion
from shared.lifecycle.purges import issue_purges
from tests.integration.lifecycle.bench import ANA, Bench, as_caller, verified

pytestmark = pytest.mark.anyio


async def test_a_space_is_active_once_its_provider_side_is_there(bench: Bench) -> None:
    accepted = await bench.create_space()
    space_id = accepted.work.space.id
    assert accepted.work.space.status is SpaceStatus.CREATING
    assert accepted.command.step is Step.PROVISION
    with pytest.raises(OperationPending):
        await bench.upload(space_id)
    await bench.active_space("other")
    spaces = await bench.database.read(lambda conn: load_spaces(conn, {space_id}))
    assert spaces[space_id].status is SpaceStatus.CREATING


async def test_the_code_of_a_space_is_unique_in_its_tenant(bench: Bench) -> None:
    await bench.create_space("manuals")
    with pytest.raises(Conflict, match="already used") as refused:
        await bench.create_space("manuals")
    assert refused.value.faults[0].field == "$.code"


async def test_nobody_creates_a_space_in_a_domain_that_is_not_theirs(bench: Bench) -> None:
    with pytest.raises(Forbidden, match="domain"):
        await bench.create_space(caller=replace(ANA, domains=("public",)))


async def test_a_document_goes_from_upload_to_active(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    operation_id = accepted.work.operation.id
    document_id = accepted.work.document.id  # type: ignore[union-attr]
    first = await bench.database.read(lambda conn: find_commands(conn, {operation_id}))
    assert [(row.command_id, row.published_at) for row in first] == [(f"{operation_id}.upload.1.1", None)]

    await bench.tell(bench.succeeded(first[0].command_id, VersionUploaded(native_document_id="n-1")))
    second = await bench.database.read(lambda conn: find_commands(conn, {operation_id}))
    assert [row.command_id for row in second] == [f"{operation_id}.ingest.1.1"]
    assert b'"nativeDocumentId":"n-1"' in second[0].body

    await bench.tell(bench.succeeded(second[0].command_id, verified("n-1")))
    document = await bench.document(document_id)
    operation = await bench.operation(operation_id)
    version = await bench.version(document.active_version_id or "")
    assert (document.status, document.candidate_version_id, document.lock_version) == (DocumentStatus.ACTIVE, None, 1)
    assert (version.status, version.chunk_count, version.native_document_id) == (VersionStatus.READY, 3, "n-1")
    assert (operation.status, operation.work) == (OperationStatus.SUCCEEDED, None)
    assert await bench.database.read(lambda conn: find_commands(conn, {operation_id})) == []


async def test_an_event_that_is_told_twice_counts_once(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    event = bench.failed(accepted.command.command_id, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT)
    first = await bench.tell(event, event)
    again = await bench.tell(event)
    assert (first.applied, first.known) == (1, 1)
    assert (again.applied, again.known) == (0, 1)
    assert (await bench.operation(accepted.work.operation.id)).retry_count == 1


async def test_a_retry_is_a_command_that_is_due_later(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    operation_id = accepted.work.operation.id
    await bench.tell(
        bench.failed(accepted.command.command_id, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT)
    )
    rows = await bench.database.read(lambda conn: find_commands(conn, {operation_id}))
    operation = await bench.operation(operation_id)
    due_at = bench.watch.now + timedelta(seconds=1.5)
    assert [(row.command_id, row.due_at) for row in rows] == [(f"{operation_id}.upload.2.1", due_at)]
    assert (operation.retry_count, operation.next_retry_at) == (1, due_at)


async def test_a_deploy_issues_the_same_attempt_again(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    operation_id = accepted.work.operation.id
    await bench.tell(bench.interrupted(accepted.command.command_id, InterruptReason.SHUTDOWN))
    rows = await bench.database.read(lambda conn: find_commands(conn, {operation_id}))
    assert [row.command_id for row in rows] == [f"{operation_id}.upload.1.2"]
    assert (await bench.operation(operation_id)).retry_count == 0


async def test_a_file_that_cannot_be_ingested_fails_its_document_at_once(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    await bench.tell(bench.failed(accepted.command.command_id, FailureReason.FILE_ENCRYPTED, FailureClass.PERMANENT))
    operation = await bench.operation(accepted.work.operation.id)
    document = await bench.document(accepted.work.document.id)  # type: ignore[union-attr]
    version = await bench.version(document.candidate_version_id or "")
    assert (operation.status, operation.retry_count, operation.is_retryable) == (OperationStatus.FAILED, 0, False)
    assert (document.status, document.active_version_id) == (DocumentStatus.CREATE_FAILED, None)
    assert (version.status, version.failure_reason) == (VersionStatus.FAILED, FailureReason.FILE_ENCRYPTED)


async def test_the_old_version_serves_until_the_new_one_is_verified(bench: Bench) -> None:
    space_id = await bench.active_space()
    document_id = await bench.ingested(space_id, "one")
    before = await bench.document(document_id)
    accepted = await bench.replace(document_id, expected=1, content="two")
    between = await bench.document(document_id)
    assert between.active_version_id == before.active_version_id
    assert between.candidate_version_id == accepted.work.version.id  # type: ignore[union-attr]
    await bench.finish(accepted.work.operation.id)
    after = await bench.document(document_id)
    old = await bench.version(before.active_version_id or "")
    assert (after.active_version_id, after.candidate_version_id) == (between.candidate_version_id, None)
    assert after.lock_version == before.lock_version + 2
    assert old.status is VersionStatus.RETIRED


async def test_a_retired_version_is_purged_after_its_grace_and_its_file_with_it(bench: Bench) -> None:
    space_id = await bench.active_space()
    document_id = await bench.ingested(space_id, "one")
    old_id = (await bench.document(document_id)).active_version_id
    await bench.finish((await bench.replace(document_id, expected=1, content="two")).work.operation.id)
    issue = bench.around
    assert await bench.write(lambda conn: issue_purges(conn, issue, limit=10)) == 0

    bench.watch.advance(timedelta(hours=25))
    assert await bench.write(lambda conn: issue_purges(conn, issue, limit=10)) == 1
    purge = (await bench.rows("SELECT command_id FROM outbox WHERE step = 'purge'"))[0][0]
    await bench.tell(bench.event(str(purge), EventType.PURGED))
    assert (await bench.version(old_id or "")).status is VersionStatus.DELETED

    assert await bench.write(lambda conn: issue_purges(conn, issue, limit=10)) == 1
    file_purge = (await bench.rows("SELECT command_id FROM outbox WHERE step = 'purge-file'"))[0][0]
    await bench.tell(bench.event(str(file_purge), EventType.PURGED))
    assert await bench.rows("SELECT count(*) FROM file") == [(1,)]
    assert await bench.rows("SELECT count(*) FROM outbox") == [(0,)]


async def test_a_purge_that_fails_is_tried_again_later_and_never_given_up(bench: Bench) -> None:
    space_id = await bench.active_space()
    document_id = await bench.ingested(space_id, "one")
    await bench.finish((await bench.replace(document_id, expected=1, content="two")).work.operation.id)
    issue = bench.around
    for attempt in range(1, 9):
        bench.watch.advance(timedelta(hours=1))
        assert await bench.write(lambda conn: issue_purges(conn, issue, limit=10)) == 1
        command = str((await bench.rows("SELECT command_id FROM outbox"))[0][0])
        assert command.endswith(f".purge.{attempt}.1")
        await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
        assert await bench.write(lambda conn: issue_purges(conn, issue, limit=10)) == 0


async def test_a_failed_candidate_gives_up_its_slot_to_a_replacement(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    document_id = accepted.work.document.id  # type: ignore[union-attr]
    await bench.tell(bench.failed(accepted.command.command_id, FailureReason.NO_TEXT, FailureClass.PERMANENT))
    second = await bench.replace(document_id, expected=0)
    document = await bench.document(document_id)
    assert (document.status, document.lock_version) == (DocumentStatus.CREATING, 1)
    await bench.finish(second.work.operation.id)
    assert (await bench.document(document_id)).status is DocumentStatus.ACTIVE
    issue = bench.around
    assert await bench.write(lambda conn: issue_purges(conn, issue, limit=10)) == 1


async def test_a_running_candidate_keeps_its_slot(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    with pytest.raises(OperationPending):
        await bench.replace(accepted.work.document.id, expected=0)  # type: ignore[union-attr]


async def test_a_replacement_from_an_old_reading_is_refused(bench: Bench) -> None:
    space_id = await bench.active_space()
    document_id = await bench.ingested(space_id)
    with pytest.raises(StaleVersion, match="at version 1, not 0"):
        await bench.replace(document_id, expected=0)


async def test_what_a_stale_command_left_behind_is_purged_by_exactly_its_id(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    command = accepted.command.command_id
    await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
    await bench.finish(accepted.work.operation.id)
    told = await bench.tell(bench.succeeded(command, VersionUploaded(native_document_id="n-late")))
    assert (told.applied, told.skipped) == (0, 1)
    rows = await bench.rows("SELECT reason, native_document_id, version_id FROM purge")
    version = accepted.work.version
    assert rows == [("leftover", "n-late", version.id)]  # type: ignore[union-attr]


async def test_somebody_without_a_grant_sees_nothing_of_a_space(bench: Bench) -> None:
    space_id = await bench.active_space()
    document_id = await bench.ingested(space_id)
    with pytest.raises(NotFound):
        await bench.upload(space_id, caller=as_caller("ben"))
    with pytest.raises(NotFound):
        await bench.upload_resource(space_id, FileResourceId("frs_unknown"))
    assert (await bench.document(document_id)).lock_version == 1


async def test_a_file_is_taken_only_by_who_uploaded_it_and_only_until_it_expires(bench: Bench) -> None:
    space_id = await bench.active_space()
    theirs = (await bench.file("theirs", as_caller("ben"))).resource
    mine = (await bench.file("mine")).resource
    with pytest.raises(NotFound, match="Upload it again"):
        await bench.upload_resource(space_id, theirs.id)
    bench.watch.advance(timedelta(hours=25))
    with pytest.raises(NotFound, match="Upload it again"):
        await bench.upload_resource(space_id, mine.id)


async def test_equal_bytes_are_one_file_of_the_tenant(bench: Bench) -> None:
    first, second = await bench.file("same"), await bench.file("same", as_caller("ben"))
    assert (first.is_twin, second.is_twin) == (False, True)
    assert second.file.id == first.file.id
    assert second.resource.id != first.resource.id


async def test_one_operation_runs_on_a_document_at_a_time(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await bench.upload(space_id)
    twin = replace(accepted.work.operation, id=OperationId("op_twin"))
    with pytest.raises(UniqueViolation):
        await bench.write(lambda conn: insert_operations(conn, [twin]))


async def test_every_transition_is_audited_with_the_operation_it_belongs_to(bench: Bench) -> None:
    space_id = await bench.active_space()
    document_id = await bench.ingested(space_id)
    rows = await bench.rows("SELECT action, before, after, resource_id FROM audit_entry ORDER BY id")
    assert [row[:3] for row in rows if row[3] == document_id] == [
        ("document.creating", None, "CREATING"),
        ("document.active", "CREATING", "ACTIVE"),
    ]
    unsealed, entries = await bench.rows(
        "SELECT count(*) FROM audit_unsealed UNION ALL SELECT count(*) FROM audit_entry"
    )
    assert unsealed == entries
