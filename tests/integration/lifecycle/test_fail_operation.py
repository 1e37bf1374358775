"""An operator ends an operation: in every state, whatever it waits for, and what it still comes to changes nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from shared.contracts.commands import ProviderKind
from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    LetterKind,
    LetterStatus,
    OperationStatus,
    SpaceStatus,
    VersionStatus,
)
from shared.contracts.events import SpaceProvisioned, VersionUploaded
from shared.contracts.ids import DocumentId, LetterId, OperationId, SpaceId, TenantId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.spaces import SpaceDeleteRequest
from shared.database.dead_letters import DeadLetter, insert_dead_letters, load_dead_letters
from shared.database.outbox import close_commands, find_commands
from shared.database.spaces import load_spaces
from shared.domain.errors import AlreadyEnded, Forbidden, OperationNotFound
from shared.domain.identity import Caller
from shared.domain.operation import Operation
from shared.lifecycle.delete_space import delete_space
from shared.lifecycle.fail_operation import fail_operation
from shared.lifecycle.interrupt_commands import interrupt_commands
from tests.integration.lifecycle.bench import ANA, Bench, Watch, as_caller, verified

pytestmark = pytest.mark.anyio

OPERATOR = as_caller("olga", roles=("gateway-operator",))
"""Nothing is granted to her."""

Make = Callable[[Bench], Awaitable[OperationId]]


async def end(bench: Bench, operation_id: OperationId, caller: Caller = OPERATOR) -> Operation:
    body = OperationReasonRequest(reason="It has hung since Monday.")
    settled = await bench.write(
        lambda conn: fail_operation(conn, operation_id, body, bench.request(caller), bench.around)
    )
    assert settled.operation == await bench.operation(operation_id)
    return settled.operation


async def waiting(bench: Bench) -> OperationId:
    return (await bench.upload(await bench.active_space())).work.operation.id


async def published(bench: Bench) -> OperationId:
    operation_id = await waiting(bench)
    await bench.publish(operation_id)
    return operation_id


async def begun(bench: Bench) -> OperationId:
    operation_id = await published(bench)
    await bench.tell(bench.event(f"{operation_id}.upload.1.1", EventType.STARTED))
    return operation_id


async def waiting_for_a_retry(bench: Bench) -> OperationId:
    operation_id = await begun(bench)
    command = f"{operation_id}.upload.1.1"
    await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
    return operation_id


async def uploaded(bench: Bench) -> OperationId:
    operation_id = await begun(bench)
    await bench.tell(bench.succeeded(f"{operation_id}.upload.1.1", VersionUploaded(native_document_id="n-1")))
    return operation_id


async def ingesting(bench: Bench) -> OperationId:
    operation_id = await uploaded(bench)
    await bench.publish(operation_id)
    await bench.tell(bench.event(f"{operation_id}.ingest.1.1", EventType.PROGRESSED, percent=99))
    return operation_id


async def cancelling(bench: Bench) -> OperationId:
    operation_id = await ingesting(bench)
    await bench.cancel(operation_id)
    return operation_id


async def cancelling_with_the_cancel_out(bench: Bench) -> OperationId:
    operation_id = await cancelling(bench)
    await bench.publish(operation_id)
    return operation_id


async def without_its_command(bench: Bench) -> OperationId:
    operation_id = await begun(bench)
    await bench.write(lambda conn: close_commands(conn, {f"{operation_id}.upload.1.1"}))
    return operation_id


STATES: dict[Make, tuple[list[str], str]] = {
    waiting: ([], "upload"),
    published: (["upload.1.1"], "upload"),
    begun: (["upload.1.1"], "upload"),
    waiting_for_a_retry: ([], "upload"),
    uploaded: ([], "ingest"),
    ingesting: (["ingest.1.1"], "ingest"),
    cancelling: (["ingest.1.1"], "upload"),
    cancelling_with_the_cancel_out: (["cancel.1.1", "ingest.1.1"], "upload"),
    without_its_command: ([], "upload"),
}
"""Every state of an upload: which of its commands are left then, and with which step a retry of it begins."""


@pytest.mark.parametrize("make", STATES, ids=lambda make: make.__name__)
async def test_it_ends_in_every_state_and_can_be_retried_to_the_end(bench: Bench, make: Make) -> None:
    left, first = STATES[make]
    operation_id = await make(bench)

    ended = await end(bench, operation_id)

    assert (ended.status, ended.failure_reason) == (OperationStatus.FAILED, FailureReason.ENDED_BY_OPERATOR)
    assert (ended.is_retryable, ended.ended_at, ended.next_retry_at) == (True, bench.watch.now, None)
    assert ended.version_id is not None
    assert ended.document_id is not None
    version = await bench.version(ended.version_id)
    assert (version.status, version.failure_reason) == (VersionStatus.FAILED, FailureReason.ENDED_BY_OPERATOR)
    document = await bench.document(ended.document_id)
    assert (document.status, document.candidate_version_id) == (DocumentStatus.CREATE_FAILED, ended.version_id)
    assert await bench.commands(operation_id) == [f"{operation_id}.{command}" for command in left]

    retried = await bench.retry(operation_id)
    assert retried.command.step.value == first
    await bench.finish(retried.work.operation.id)
    assert (await bench.operation(retried.work.operation.id)).status is OperationStatus.SUCCEEDED
    assert (await bench.document(ended.document_id)).status is DocumentStatus.ACTIVE


async def test_a_late_success_is_skipped_and_closes_what_was_out(bench: Bench) -> None:
    operation_id = await ingesting(bench)
    ended = await end(bench, operation_id)

    told = await bench.tell(bench.succeeded(f"{operation_id}.ingest.1.1", verified("n-1")))

    assert (told.applied, told.skipped) == (0, 1)
    assert await bench.operation(operation_id) == ended
    assert (await bench.version(str(ended.version_id))).status is VersionStatus.FAILED
    assert (await bench.document(DocumentId(str(ended.document_id)))).active_version_id is None
    assert await bench.commands(operation_id) == []


async def test_what_was_out_and_is_gone_is_closed_and_not_published_again(bench: Bench) -> None:
    operation_id = await begun(bench)
    ended = await end(bench, operation_id)

    def recover(conn: Connection) -> None:
        interrupt_commands(conn, find_commands(conn, {operation_id}), bench.around)

    await bench.write(recover)

    assert await bench.commands(operation_id) == []
    assert await bench.operation(operation_id) == ended


async def test_a_replacement_that_is_ended_leaves_what_is_served(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    served = (await bench.document(document_id)).active_version_id
    replaced = await bench.replace(document_id, expected=1)

    await end(bench, replaced.work.operation.id)

    document = await bench.document(document_id)
    assert (document.status, document.active_version_id) == (DocumentStatus.ACTIVE, served)
    assert (await bench.version(str(served))).status is VersionStatus.READY
    await bench.finish((await bench.retry(replaced.work.operation.id)).work.operation.id)
    assert (await bench.document(document_id)).active_version_id != served


async def space_status(bench: Bench, space_id: SpaceId) -> SpaceStatus:
    return (await bench.database.read(lambda conn: load_spaces(conn, {space_id})))[space_id].status


async def test_a_space_that_is_being_created_is_create_failed_and_can_be_retried(bench: Bench) -> None:
    accepted = await bench.create_space()
    operation_id, space_id = accepted.work.operation.id, accepted.work.space.id
    await bench.publish(operation_id)

    assert (await end(bench, operation_id)).is_retryable
    assert await space_status(bench, space_id) is SpaceStatus.CREATE_FAILED

    late = bench.succeeded(accepted.command.command_id, SpaceProvisioned(native_space_id="late"))
    assert (await bench.tell(late)).skipped == 1
    assert await space_status(bench, space_id) is SpaceStatus.CREATE_FAILED
    assert accepted.work.space.profile.kind is ProviderKind.SCRIPTED
    retried = await bench.retry(operation_id)
    await bench.tell(bench.succeeded(retried.command.command_id, SpaceProvisioned(native_space_id="n")))
    assert await space_status(bench, space_id) is SpaceStatus.ACTIVE


async def test_a_space_that_is_being_deleted_is_delete_failed_and_can_be_deleted_again(bench: Bench) -> None:
    space_id = await bench.active_space()

    async def delete(expected: int) -> OperationId:
        body = SpaceDeleteRequest(expected_version=expected, reason="Closed.")
        return (
            await bench.write(lambda conn: delete_space(conn, space_id, body, bench.request(), bench.around))
        ).work.operation.id

    ended = await end(bench, await delete(1))

    assert ended.is_retryable is False
    assert await space_status(bench, space_id) is SpaceStatus.DELETE_FAILED
    await delete(2)
    assert await space_status(bench, space_id) is SpaceStatus.DELETING


async def test_a_delete_that_purges_fails_and_its_document_goes_all_the_same(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    delete = (await bench.delete(document_id, expected=1)).work.operation
    assert delete.status is OperationStatus.RUNNING
    out = await bench.issue_purges()

    ended = await end(bench, delete.id)

    assert ended.is_retryable is False
    assert (await bench.document(document_id)).status is DocumentStatus.DELETING
    assert await bench.issue_purges() == out
    await bench.tell(*(bench.event(command, EventType.PURGED) for command in out))
    assert (await bench.document(document_id)).status is DocumentStatus.DELETED
    assert await bench.operation(delete.id) == ended


async def test_a_delete_that_waits_for_other_work_fails_and_its_document_goes_when_that_is_over(bench: Bench) -> None:
    operation_id = await begun(bench)
    document_id = DocumentId(str((await bench.operation(operation_id)).document_id))
    delete = (await bench.delete(document_id, expected=0)).work.operation
    assert delete.status is OperationStatus.PENDING

    await end(bench, delete.id)
    assert (await bench.document(document_id)).status is DocumentStatus.DELETING
    assert await bench.issue_purges() == []  # the upload may still be writing
    await bench.tell(bench.event(f"{operation_id}.upload.1.1", EventType.CANCELLED))
    await bench.purge_all()

    assert (await bench.document(document_id)).status is DocumentStatus.DELETED
    assert (await bench.operation(operation_id)).status is OperationStatus.CANCELLED
    assert await bench.rows("SELECT id FROM purge WHERE status <> 'DONE'") == []


async def test_work_that_holds_up_a_delete_is_ended_and_the_delete_goes_on(bench: Bench) -> None:
    operation_id = await without_its_command(bench)
    document_id = DocumentId(str((await bench.operation(operation_id)).document_id))
    delete = (await bench.delete(document_id, expected=0)).work.operation
    assert delete.status is OperationStatus.PENDING

    ended = await end(bench, operation_id)

    assert (ended.status, ended.is_retryable) == (OperationStatus.FAILED, False)
    assert (await bench.operation(delete.id)).status is OperationStatus.RUNNING
    await bench.purge_all()
    assert (await bench.operation(delete.id)).status is OperationStatus.SUCCEEDED
    assert (await bench.document(document_id)).status is DocumentStatus.DELETED


def a_letter(name: str, owner_id: str, status: LetterStatus = LetterStatus.OPEN) -> DeadLetter:
    return DeadLetter(
        id=LetterId(name),
        tenant_id=TenantId("acme"),
        kind=LetterKind.EVENT,
        status=status,
        owner_id=owner_id,
        subject="s",
        body=b"{",
        error="KeyError",
        created_at=Watch().now,
    )


async def test_letters_that_hold_it_up_are_discarded_with_it(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    delete = (await bench.delete(document_id, expected=1)).work.operation
    ((purge_id,),) = await bench.rows("SELECT id FROM purge")
    letters = [
        a_letter("ltr_1", delete.id),
        a_letter("ltr_2", str(purge_id), LetterStatus.REPLAYING),
        a_letter("ltr_3", delete.id, LetterStatus.REPLAYED),
        a_letter("ltr_4", "op_other"),
    ]
    await bench.write(lambda conn: insert_dead_letters(conn, letters))

    await end(bench, delete.id)

    ids = {letter.id for letter in letters}
    found = await bench.database.read(lambda conn: load_dead_letters(conn, ids))
    kept = dict(sorted(found.items()))
    assert [(letter.id, letter.status, letter.settled_at, letter.settled_by) for letter in kept.values()] == [
        ("ltr_1", LetterStatus.DISCARDED, bench.watch.now, "olga"),
        ("ltr_2", LetterStatus.DISCARDED, bench.watch.now, "olga"),
        ("ltr_3", LetterStatus.REPLAYED, None, None),
        ("ltr_4", LetterStatus.OPEN, None, None),
    ]
    assert await bench.rows(
        "SELECT resource_id, before, after FROM audit_entry WHERE action = 'DEAD_LETTER_DISCARD' ORDER BY 1"
    ) == [("ltr_1", "OPEN", "DISCARDED"), ("ltr_2", "REPLAYING", "DISCARDED")]


async def test_the_audit_tells_who_ended_it_and_why_and_what_went_with_it(bench: Bench) -> None:
    operation_id = await begun(bench)
    bench.watch.advance(timedelta(minutes=1))
    await end(bench, operation_id)
    rows = await bench.rows(
        "SELECT action, subject, resource_type, before, after, operation_id FROM audit_entry "
        "WHERE subject = 'olga' ORDER BY id"
    )
    assert rows == [
        ("OPERATION_FAIL", "olga", "OPERATION", "RUNNING", "FAILED", operation_id),
        ("document.create_failed", "olga", "DOCUMENT", "CREATING", "CREATE_FAILED", operation_id),
        ("version.failed", "olga", "VERSION", "UPLOADING", "FAILED", operation_id),
    ]
    ((details,),) = await bench.rows("SELECT details FROM audit_entry WHERE action = 'OPERATION_FAIL'")
    assert "It has hung since Monday." in str(details)


@pytest.mark.parametrize("status", [OperationStatus.FAILED, OperationStatus.SUCCEEDED, OperationStatus.CANCELLED])
async def test_what_has_ended_stays_as_it_ended(bench: Bench, status: OperationStatus) -> None:
    operation_id = await waiting(bench)
    if status is OperationStatus.FAILED:
        await end(bench, operation_id)
    elif status is OperationStatus.SUCCEEDED:
        await bench.finish(operation_id)
    else:
        await bench.cancel(operation_id)
    before = await bench.operation(operation_id)
    with pytest.raises(AlreadyEnded, match=status.value):
        await end(bench, operation_id)
    assert await bench.operation(operation_id) == before


async def test_only_an_operator_of_its_tenant_and_domain_may_end_it(bench: Bench) -> None:
    operation_id = await waiting(bench)
    with pytest.raises(Forbidden):
        await end(bench, operation_id, ANA)
    for caller in (replace(OPERATOR, tenant=TenantId("globex")), replace(OPERATOR, domains=("secret",))):
        with pytest.raises(OperationNotFound):
            await end(bench, operation_id, caller)
    assert (await bench.operation(operation_id)).status is OperationStatus.PENDING
