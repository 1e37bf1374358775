"""The projector with a real broker: work goes through, and whatever is lost on the way is made up for."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from services.projector.lease import LEASE_NAME, Lease
from shared.contracts.catalogue import Stream
from shared.contracts.commands import AnyCommand
from shared.contracts.enums import EventType, FailureClass, FailureReason, OperationStatus, Step
from shared.contracts.ids import CommandId, OperationId
from shared.database.errors import LeaseLost
from shared.database.leases import take_lease
from shared.messaging.streams import declare
from tests.integration.projector.answering import all_well
from tests.integration.projector.conftest import Stage

pytestmark = pytest.mark.anyio


async def ended(stage: Stage, *operation_ids: OperationId, within: timedelta = timedelta(seconds=20)) -> list[str]:
    """Wait until all have ended; their statuses."""
    async with asyncio.timeout(within.total_seconds()):
        while True:
            operations = [await stage.bench.operation(operation_id) for operation_id in operation_ids]
            if all(operation.is_over for operation in operations):
                return [operation.status.value for operation in operations]
            await asyncio.sleep(0.02)


async def uploads(stage: Stage, number: int) -> list[OperationId]:
    """Accept some documents into a space that is ACTIVE."""
    accepted = await stage.bench.create_space()
    await ended(stage, accepted.work.operation.id)
    space_id = accepted.work.space.id
    return [(await stage.bench.upload(space_id, f"{n}")).work.operation.id for n in range(number)]


async def test_accepted_work_is_dispatched_answered_and_projected(stage: Stage) -> None:
    stage.project()
    stage.answer()
    operations = await uploads(stage, 30)
    assert await ended(stage, *operations) == ["SUCCEEDED"] * 30
    assert await stage.bench.rows("SELECT count(*) FROM outbox") == [(0,)]
    assert sorted(set(stage.answerer.taken)) == sorted(stage.answerer.taken)


async def test_work_accepted_while_nothing_runs_is_done_when_it_does(stage: Stage) -> None:
    accepted = await stage.bench.create_space()
    stage.project()
    await asyncio.sleep(0.3)
    stage.answer()
    assert await ended(stage, accepted.work.operation.id) == ["SUCCEEDED"]


async def test_a_failed_step_is_retried_when_due_and_counted(stage: Stage) -> None:
    failures = {Step.UPLOAD: 2}

    def answer(command: AnyCommand) -> Sequence[dict[str, object]]:
        step = CommandId.parse(command.command_id).step
        if failures.get(step, 0):
            failures[step] -= 1
            return [
                {
                    "type": EventType.FAILED,
                    "failure_class": FailureClass.TRANSIENT,
                    "reason": FailureReason.PROVIDER_UNAVAILABLE,
                    "text": "No.",
                }
            ]
        return all_well(command)

    stage.answerer.answer = answer
    stage.project()
    stage.answer()
    (operation,) = await uploads(stage, 1)
    assert await ended(stage, operation) == ["SUCCEEDED"]
    assert (await stage.bench.operation(operation)).retry_count == 2
    taken = [command for command in stage.answerer.taken if command.startswith(operation)]
    assert taken == [f"{operation}.upload.{n}.1" for n in (1, 2, 3)] + [f"{operation}.ingest.3.1"]


async def test_a_second_projector_takes_over_when_the_first_dies(stage: Stage) -> None:
    stage.project("one", lease_ttl=0.5, lease_renewal=0.1)
    stage.answer()
    operations = await uploads(stage, 5)
    stage.project("two", lease_ttl=0.5, lease_renewal=0.1)
    await stage.stop(stage.running[0])
    more = await uploads_into_new_space(stage, 5)
    assert await ended(stage, *operations, *more) == ["SUCCEEDED"] * 10
    assert await stage.bench.rows("SELECT holder FROM lease") == [("two",)]


async def uploads_into_new_space(stage: Stage, number: int) -> list[OperationId]:
    """Accept some documents into another space."""
    accepted = await stage.bench.create_space("another")
    await ended(stage, accepted.work.operation.id)
    return [(await stage.bench.upload(accepted.work.space.id, f"b{n}")).work.operation.id for n in range(number)]


async def test_commands_lost_with_the_broker_are_published_again(stage: Stage) -> None:
    stage.project()
    stage.answer(Step.PROVISION)
    operations = await uploads(stage, 3)
    await stage.stop(stage.running[1])
    await published(stage, 3)
    for stream in (Stream.COMMANDS, Stream.EVENTS):
        await stage.connection.jetstream.delete_stream(stream)
    stage.answer()
    assert await ended(stage, *operations) == ["SUCCEEDED"] * 3
    assert {(await stage.bench.operation(operation)).retry_count for operation in operations} == {0}


async def published(stage: Stage, number: int) -> None:
    """Wait until so many commands are acknowledged by the broker."""
    await stage.becomes("SELECT count(*) FROM outbox WHERE sequence IS NOT NULL", [(number,)])


async def test_a_command_taken_without_an_answer_is_published_again_and_interrupted_at_last(stage: Stage) -> None:
    """A worker that acknowledges and reports nothing: each new publication counts, then it is a crash."""
    silent = {Step.UPLOAD}

    def answer(command: AnyCommand) -> Sequence[dict[str, object]]:
        return [] if CommandId.parse(command.command_id).step in silent else all_well(command)

    stage.answerer.answer = answer
    stage.project()
    stage.answer()
    (operation,) = await uploads(stage, 1)
    await stage.becomes("SELECT retry_count FROM operation WHERE type = 'DOCUMENT_UPLOAD'", [(1,)])
    silent.clear()
    assert await ended(stage, operation) == ["SUCCEEDED"]
    first = f"{operation}.upload.1.1"
    assert stage.answerer.taken.count(first) == 3


async def test_an_event_nobody_can_read_is_kept_and_the_rest_flows(stage: Stage) -> None:
    stage.project()
    stage.answer()
    await stage.publisher.publish("knowgate.event.succeeded.op_x", b"{", {}, "garbage-1")
    operations = await uploads(stage, 3)
    assert await ended(stage, *operations) == ["SUCCEEDED"] * 3
    assert await stage.bench.rows("SELECT kind, owner_id FROM dead_letter") == [("event", "op_x")]


async def test_an_event_that_cannot_be_applied_is_kept_and_the_rest_flows(stage: Stage) -> None:
    """Its result does not fit its step: applying it is an illegal move, every time."""

    def answer(command: AnyCommand) -> Sequence[dict[str, object]]:
        step = CommandId.parse(command.command_id).step
        if step is Step.UPLOAD and command.command_id.split(".")[0] == bad:
            return [{"type": EventType.SUCCEEDED, "result": {"kind": "SpaceRemoved"}}]
        return all_well(command)

    stage.project()
    stage.answer()
    operations = await uploads(stage, 0)
    accepted = await stage.bench.create_space("another")
    await ended(stage, accepted.work.operation.id)
    bad = ""
    stage.answerer.answer = answer
    bad_operation = (await stage.bench.upload(accepted.work.space.id, "bad")).work.operation.id
    bad = bad_operation
    operations += [(await stage.bench.upload(accepted.work.space.id, f"g{n}")).work.operation.id for n in range(3)]
    assert await ended(stage, *operations) == ["SUCCEEDED"] * 3
    await stage.becomes("SELECT owner_id FROM dead_letter", [(bad_operation,)])
    assert (await stage.bench.operation(bad_operation)).status is not OperationStatus.SUCCEEDED


async def test_a_replaced_version_is_purged_at_the_provider(stage: Stage) -> None:
    stage.project()
    stage.answer()
    accepted = await stage.bench.create_space()
    await ended(stage, accepted.work.operation.id)
    upload = await stage.bench.upload(accepted.work.space.id, "one")
    await ended(stage, upload.work.operation.id)
    document = upload.work.document
    assert document is not None
    replacement = await stage.bench.replace(document.id, expected=1, content="two")
    assert await ended(stage, replacement.work.operation.id) == ["SUCCEEDED"]
    await stage.becomes(
        "SELECT status FROM document_version ORDER BY number",
        [
            ("DELETED",),
            ("READY",),
        ],
    )


async def test_a_projector_whose_lease_was_taken_knows_it_with_the_next_renewal(stage: Stage) -> None:
    lease = Lease(stage.database, "one", ttl=timedelta(seconds=2), renewal=timedelta(milliseconds=10))
    await lease.take(at_once=False)
    await stage.database.write(lambda conn: take_lease(conn, LEASE_NAME, "two", timedelta(seconds=2), steal=True))
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(10):
            await lease.keep()


async def test_a_projector_that_is_asked_to_stop_while_it_loses_its_lease_stops(stage: Stage) -> None:
    stage.project("one", lease_renewal=0.05)
    await stage.becomes("SELECT holder FROM lease", [("one",)])
    await stage.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_EVENTS'", [(0,)])
    with capture_logs() as logs:
        await stage.database.write(lambda conn: take_lease(conn, LEASE_NAME, "two", timedelta(days=1), steal=True))
        async with asyncio.timeout(10):
            while not any(log["event"] == "projector.lease.lost" for log in logs):  # noqa: ASYNC110 - a log tells nobody
                await asyncio.sleep(0)
    (projector,) = stage.running
    projector.cancel()
    ended, _ = await asyncio.wait({projector}, timeout=5)
    projector.cancel()
    assert ended == {projector}


async def test_a_stream_without_messages_is_not_taken_for_another_one(stage: Stage) -> None:
    await declare(stage.connection.jetstream, stage.messaging)
    with capture_logs() as logs:
        for holder in ("one", "two"):
            stage.project(holder)
            await stage.becomes("SELECT holder FROM lease", [(holder,)])
            await stage.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_EVENTS'", [(0,)])
            await asyncio.sleep(0.2)
            await stage.stop(stage.running[-1])
    assert [log for log in logs if log["event"] == "projector.stream.replaced"] == []


async def test_a_projector_that_lost_its_lease_stands_by_and_takes_over_again(stage: Stage) -> None:
    stage.project("one", lease_ttl=0.5, lease_renewal=0.05)
    await stage.becomes("SELECT holder FROM lease", [("one",)])
    await stage.database.write(
        lambda conn: take_lease(conn, LEASE_NAME, "two", timedelta(milliseconds=300), steal=True)
    )
    await stage.becomes("SELECT holder, epoch FROM lease", [("one", 3)])
    stage.answer()
    (operation,) = await uploads(stage, 1)
    assert await ended(stage, operation) == ["SUCCEEDED"]
