"""Poison: commands that kill their workers or cannot be read, targets that are gone, events that fit nothing.

Each ends with a reason or can be ended by an operator, and what comes behind it flows.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from nats.errors import Error as NatsError

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureReason,
    InterruptReason,
    Step,
    VersionStatus,
)
from shared.contracts.events import TERMINAL_EVENTS
from shared.contracts.ids import OperationId, SpaceId
from shared.contracts.operations import OperationReasonRequest
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.lifecycle.fail_operation import fail_operation
from shared.lifecycle.settings import PipelineSettings
from shared.messaging.codec import Message, event_message
from shared.telemetry.stamps import utc_now
from tests.integration.lifecycle.bench import ANA, Bench, Watch
from tests.integration.services.worker.works import QUICK, Works, document_of, projector_at, works_at
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.worker import Commands, Place, desk_at, worker_at

pytestmark = pytest.mark.anyio

OPERATOR = replace(ANA, roles=("gateway-operator",))
GOOD = 5
PATIENT = PipelineSettings(retry_first_wait=timedelta(hours=1), retry_longest_wait=timedelta(hours=1))


@pytest.fixture
def place(nats_url: str, tmp_path: Path) -> Place:
    """A broker that delivers again soon."""
    return Place(root=tmp_path, messaging=messaging_settings(nats_url, ack_wait=timedelta(seconds=1)))


@pytest.fixture
async def works(place: Place, database: Database) -> AsyncIterator[Works]:
    async with works_at(place, database) as works:
        yield works


async def good_ones_succeed(works: Works, space_id: SpaceId) -> None:
    """What comes behind flows."""
    accepted = [await works.upload(space_id) for _ in range(GOOD)]
    ended = [await works.ended(one.work.operation.id) for one in accepted]
    assert {(operation.status.value, operation.retry_count) for operation in ended} == {("SUCCEEDED", 0)}


async def fail(works: Works, operation: OperationId) -> None:
    """End an operation as an operator."""
    body = OperationReasonRequest(reason="It is stuck.")
    bench = works.bench
    await bench.write(lambda conn: fail_operation(conn, operation, body, bench.request(OPERATOR), bench.around))


async def test_a_command_that_cannot_be_read_fails_its_operation_and_is_one_letter(
    place: Place, database: Database
) -> None:
    """What lies in the outbox is no command; its worker buries, answers and terminates it."""
    async with works_at(place, database) as works:
        space_id = await works.space()
        accepted = await works.upload(space_id)
        operation = accepted.work.operation.id
        await works.ended(operation)
        good = await works.desk.connection.jetstream.get_last_msg(
            Stream.EVENTS, f"knowgate.event.succeeded.{operation}"
        )
        headers = {**(good.headers or {}), "ce-id": f"{operation}.upload.1.1"}
        subject = "knowgate.command.upload.someone"
        await works.desk.publish(Message(subject=subject, body=b"{", headers=headers, message_id="broken"))
        await works.becomes(
            "SELECT kind, status, tenant_id, owner_id FROM dead_letter", ("command", "OPEN", "acme", operation)
        )
        await good_ones_succeed(works, space_id)
        await works.at_rest()
        assert await works.bench.rows("SELECT count(*) FROM dead_letter") == [(1,)]


async def test_a_command_for_what_is_not_there_is_answered_and_the_others_flow(works: Works) -> None:
    """Nobody knows of its operation, its document or its version; its file is gone."""
    space_id = await works.space()
    gone = Commands(number=77)
    gone.file = gone.file.model_copy(update={"object_key": "objects/gone"})
    await works.desk.issue(gone.upload())
    await works.desk.issue(Commands(number=78).purge())
    await works.desk.issue(Commands(number=79).cancel())
    await good_ones_succeed(works, space_id)
    await works.at_rest()
    assert await works.bench.rows("SELECT count(*) FROM dead_letter") == [(0,)]
    assert await works.bench.rows("SELECT count(*) FROM operation WHERE id IN ('op_77', 'op_78', 'op_79')") == [(0,)]


async def test_a_late_command_for_a_document_that_was_deleted_leaves_nothing_behind(works: Works) -> None:
    space_id = await works.space()
    accepted = await works.upload(space_id)
    operation = accepted.work.operation.id
    await works.ended(operation)
    document = document_of(accepted)
    deleting = await works.bench.delete(document.id, expected=1)
    await works.ended(deleting.work.operation.id)
    version = await works.version_of(accepted)
    late = (
        Commands()
        .reindex()
        .model_copy(
            update={
                "command_id": f"{operation}.reindex.1.1",
                "operation_id": operation,
                "space_id": space_id,
                "document_id": document.id,
                "version_id": version.id,
            }
        )
    )
    await works.desk.issue(late)
    await works.desk.events(
        lambda found: any(event.command_id == late.command_id and event.type in TERMINAL_EVENTS for event in found)
    )
    assert works.documents_at_provider(accepted) != []
    await good_ones_succeed(works, space_id)
    await until(lambda: works.documents_at_provider(accepted) == [])
    await works.at_rest()
    assert (await works.bench.document(document.id)).status is DocumentStatus.DELETED
    assert (await works.bench.version(version.id)).status is VersionStatus.DELETED
    assert await works.bench.rows("SELECT count(*) FROM dead_letter") == [(0,)]


async def test_events_of_nobody_and_events_that_are_none_hold_nothing_up(works: Works) -> None:
    space_id = await works.space()
    bench = works.bench
    unknown = bench.interrupted("op_nobody.upload.1.1", InterruptReason.CRASH)
    await works.desk.publish(event_message(unknown, source="worker", traceparent=None))
    odd = {"ce-id": "\u00e9.\u00fc", "ce-tenant": "\u00e9", "ce-type": "?"}
    await works.desk.publish(
        Message(subject="knowgate.event.succeeded.op_y", body=b"\xff\x00", headers=odd, message_id="odd-\u00e9")
    )
    await good_ones_succeed(works, space_id)
    await works.becomes("SELECT kind, tenant_id, owner_id FROM dead_letter", ("event", None, "op_y"))


async def test_a_malformed_event_sticks_its_operation_which_an_operator_can_end(
    place: Place, database: Database
) -> None:
    """No worker runs: the operation is out, and all that is heard of it is nonsense."""
    async with desk_at(place) as desk, projector_at(desk, database):
        works = Works(desk, Bench(database, watch=Watch(utc_now()), settings=QUICK))
        space_id = await works.bench.active_space()
        accepted = await works.upload(space_id)
        operation = accepted.work.operation.id
        await works.becomes("SELECT count(*) FROM outbox WHERE sequence IS NOT NULL", (1,))
        event = works.bench.event(f"{operation}.upload.1.1", EventType.INTERRUPTED, reason=InterruptReason.CRASH)
        message = event_message(event, source="worker", traceparent=None)
        await desk.publish(replace(message, body=message.body.replace(b'"crash"', b'"tired"')))
        await works.becomes(
            "SELECT kind, status, tenant_id, owner_id FROM dead_letter", ("event", "OPEN", "acme", operation)
        )
        assert not (await works.bench.operation(operation)).is_over

        await fail(works, operation)

        ended = await works.ended(operation)
        assert (ended.status.value, ended.failure_reason) == ("FAILED", FailureReason.ENDED_BY_OPERATOR)
        assert await works.bench.rows("SELECT status, settled_by FROM dead_letter") == [("DISCARDED", "ana")]
        async with worker_at(place):
            await good_ones_succeed(works, space_id)
            await works.at_rest()


async def test_a_document_that_kills_each_of_its_workers_fails_after_five_retries(
    place: Place, sqlite: DatabaseSettings, opened: Callable[[DatabaseSettings], Database]
) -> None:
    """Three deliveries of each command are dropped, as by workers that die over it; a fourth worker says so.

    A retry is due when the worker before it has gone.
    """
    database = opened(sqlite)
    async with desk_at(place) as desk, projector_at(desk, database, PATIENT):
        works = Works(desk, Bench(database, watch=Watch(utc_now()), settings=PATIENT))
        space_id = await works.bench.active_space()
        accepted = await works.upload(space_id)
        operation = accepted.work.operation.id
        for attempt in range(1, 7):
            await works.bench.write(lambda conn: conn.exec_driver_sql("UPDATE outbox SET due_at = 0"))
            await dropped(works, f"{operation}.upload.{attempt}.1", times=3)
            async with worker_at(place):
                await works.operation_when(operation, lambda one, n=attempt: one.retry_count == n or one.is_over)  # type: ignore[misc]
        ended = await works.ended(operation)
        assert (ended.status.value, ended.retry_count) == ("FAILED", 5)
        assert (ended.failure_reason, ended.is_retryable) == (FailureReason.WORKER_CRASHED, True)


async def dropped(works: Works, command_id: str, *, times: int) -> None:
    """Take a command so often and fall silent each time."""
    pull = await works.desk.connection.jetstream.pull_subscribe_bind(durable_name(Step.UPLOAD), Stream.COMMANDS)
    seen = 0
    async with asyncio.timeout(60):
        while seen < times:
            try:
                (message,) = await pull.fetch(1, timeout=0.5)
            except (TimeoutError, NatsError):
                continue
            assert (message.headers or {})["ce-id"] == command_id
            seen += 1
            assert message.metadata.num_delivered == seen


async def test_twenty_workers_that_are_stopped_one_after_the_other_count_nothing(
    place: Place, database: Database
) -> None:
    """Each has the command in hand when it is asked to stop; only its own answer says so, as in a rolling deploy."""
    async with desk_at(place) as desk, projector_at(desk, database):
        works = Works(desk, Bench(database, watch=Watch(utc_now()), settings=QUICK))
        space_id = await works.bench.active_space()
        operation = (await works.upload(space_id)).work.operation.id
        for issue in range(1, 21):
            await works.becomes(
                "SELECT command_id FROM outbox WHERE sequence IS NOT NULL", (f"{operation}.upload.1.{issue}",)
            )
            shutdown = works.bench.interrupted(f"{operation}.upload.1.{issue}", InterruptReason.SHUTDOWN)
            await answered(works, event_message(shutdown, source="worker", traceparent=None))
        async with worker_at(place):
            ended = await works.ended(operation)
        assert (ended.status.value, ended.retry_count, ended.last_retry_at) == ("SUCCEEDED", 0, None)


async def answered(works: Works, message: Message) -> None:
    """Take one command, publish its answer, and acknowledge it."""
    pull = await works.desk.connection.jetstream.pull_subscribe_bind(durable_name(Step.UPLOAD), Stream.COMMANDS)
    (taken,) = await pull.fetch(1, timeout=10)
    await works.desk.publish(message)
    await taken.ack()
