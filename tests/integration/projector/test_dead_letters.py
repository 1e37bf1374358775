"""Dead letters with a real broker: what workers bury, what the broker gives up, and what operators make of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from services.projector import term
from services.projector.letters import bury, letter_of_event
from services.projector.replay import Replay
from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import EventType, OperationStatus, Step
from shared.contracts.events import AnyEvent, VersionUploaded
from shared.contracts.ids import LetterId, OperationId
from shared.database.dead_letters import load_dead_letters, replaying_letters
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.dead_letters import discard_letter, replay_letter
from shared.messaging.codec import event_message
from shared.messaging.dead_letters import copy_of
from shared.messaging.stream_state import StoredMessage
from tests.integration.lifecycle.bench import ANA
from tests.integration.projector.conftest import Stage
from tests.integration.projector.test_projector import ended

pytestmark = pytest.mark.anyio

OPERATOR = replace(ANA, roles=("gateway-operator",))
LETTERS = "SELECT kind, status, tenant_id, owner_id, error FROM dead_letter ORDER BY created_at, id"
UNREADABLE = "The message could not be read: no."
NEVER = 3600
ANSWERS_TO_SPACES = (Step.PROVISION, Step.INGEST)


@pytest.fixture(autouse=True)
def quick_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term, "REPLAY_EVERY", term.SEAL_EVERY)
    monkeypatch.setattr(term, "MEASURE_EVERY", term.SEAL_EVERY)


async def upload_in_the_stream(stage: Stage) -> Accepted:
    """An upload that is out; spaces and ingests are answered, uploads are not."""
    stage.answer(*ANSWERS_TO_SPACES)
    space = await stage.bench.create_space()
    await ended(stage, space.work.operation.id)
    accepted = await stage.bench.upload(space.work.space.id)
    await stage.becomes("SELECT step FROM outbox WHERE sequence IS NOT NULL", [("upload",)])
    return accepted


async def taken(stage: Stage, settle: Callable[[Msg], Awaitable[None]]) -> None:
    """Take the upload, again and again if it comes again, and settle it somehow. What comes behind it is given back."""
    pull = await stage.connection.jetstream.pull_subscribe_bind(durable_name(Step.UPLOAD), Stream.COMMANDS)
    place = None
    with suppress(TimeoutError, NatsError):
        while True:
            (message,) = await pull.fetch(1, timeout=0.5)
            place = place or message.metadata.sequence.stream
            if message.metadata.sequence.stream != place:
                await message.nak()
                return
            await settle(message)


async def commands_left(stage: Stage) -> int:
    return (await stage.connection.jetstream.stream_info(Stream.COMMANDS)).state.messages


async def empties(stage: Stage) -> None:
    """Wait until no command is in the stream."""
    async with asyncio.timeout(20):
        while await commands_left(stage):  # noqa: ASYNC110 - a stream tells nobody that it is empty
            await asyncio.sleep(0.02)


async def test_a_command_that_a_worker_has_buried_is_kept_once_with_its_tenant(stage: Stage) -> None:
    stage.project()
    accepted = await upload_in_the_stream(stage)
    operation = accepted.work.operation.id
    headers = {"ce-id": f"{operation}.upload.1.1", "content-type": "application/json", "other": "x"}
    copy = copy_of(b"\x00{", headers, origin="KNOWGATE_COMMANDS.7", reason=UNREADABLE)
    noise = copy_of(b"", {"ce-id": "\u00e9", "ce-tenant": "\u00fc"}, origin="KNOWGATE_COMMANDS.8", reason="No\u0301.")
    await stage.publisher.send(copy)
    await stage.publisher.send(noise)
    await stage.becomes("SELECT count(*) FROM dead_letter", [(2,)])
    await stage.connection.jetstream.delete_stream(Stream.DEADLETTERS)
    await stage.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_DEADLETTERS'", [(0,)])
    await stage.publisher.send(copy)
    await stage.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_DEADLETTERS'", [(1,)])
    first, second = await stage.bench.rows(LETTERS)
    assert first == ("command", "OPEN", "acme", operation, UNREADABLE)
    assert (second[0], second[2], second[3]) == ("command", None, "")
    (letter_id,) = (row[0] for row in await stage.bench.rows("SELECT id FROM dead_letter WHERE tenant_id = 'acme'"))
    letter = await stage.database.read(lambda conn: load_dead_letters(conn, {LetterId(str(letter_id))}))
    (kept,) = letter.values()
    assert (kept.body, kept.headers["ce-id"], kept.subject) == (
        b"\x00{",
        f"{operation}.upload.1.1",
        "knowgate.deadletter.command",
    )


async def test_a_message_that_was_delivered_too_often_is_deleted_and_its_command_counts_as_a_crash(
    stage: Stage,
) -> None:
    stage.project(recovery_interval=NEVER)
    operation = (await upload_in_the_stream(stage)).work.operation.id
    await taken(stage, lambda message: message.nak())
    await stage.becomes("SELECT retry_count FROM operation WHERE type = 'DOCUMENT_UPLOAD'", [(1,)])
    stage.answer(Step.UPLOAD)
    assert await ended(stage, operation) == ["SUCCEEDED"]
    await empties(stage)
    assert await stage.bench.rows(LETTERS) == []


async def test_such_a_message_is_found_although_nobody_told_of_it(stage: Stage) -> None:
    stage.project()
    operation = (await upload_in_the_stream(stage)).work.operation.id
    await stage.stop(stage.running[0])
    await taken(stage, lambda message: message.nak())
    await stage.connection.jetstream.purge_stream(Stream.DEADLETTERS)
    assert await commands_left(stage) == 1
    stage.project()
    await stage.becomes("SELECT retry_count FROM operation WHERE type = 'DOCUMENT_UPLOAD'", [(1,)])
    stage.answer(Step.UPLOAD)
    assert await ended(stage, operation) == ["SUCCEEDED"]
    await empties(stage)


async def test_an_advisory_of_a_stream_that_is_no_more_harms_no_message_in_its_place(stage: Stage) -> None:
    """It is older than the message that has the place now: the broker spoke of a stream that was lost."""
    stage.project()
    operation = (await upload_in_the_stream(stage)).work.operation.id
    ((sequence,),) = await stage.bench.rows("SELECT sequence FROM outbox")
    told = {
        "stream": "KNOWGATE_COMMANDS",
        "stream_seq": sequence,
        "deliveries": 20,
        "timestamp": "2020-01-01T00:00:00Z",
    }
    subject = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.KNOWGATE_COMMANDS.knowgate-upload"
    await stage.publisher.publish(subject, json.dumps(told).encode(), {}, "late")
    await stage.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_DEADLETTERS'", [(1,)])
    assert await commands_left(stage) == 1
    stage.answer(Step.UPLOAD)
    assert await ended(stage, operation) == ["SUCCEEDED"]
    assert (await stage.bench.operation(operation)).retry_count == 0


async def test_noise_that_no_worker_answers_does_not_stay_in_the_queue(stage: Stage) -> None:
    stage.project()
    await stage.becomes("SELECT count(*) FROM projector_position", [(2,)])
    await stage.publisher.publish("knowgate.command.upload.someone", b"\xff", {}, "noise")
    await taken(stage, lambda message: message.nak())
    await empties(stage)
    error = "It was delivered 20 times, and no worker has answered it."
    assert await stage.bench.rows(LETTERS) == [("command", "OPEN", None, "", error)]


async def test_a_command_that_a_stranger_terminates_is_a_letter_and_published_again(stage: Stage) -> None:
    stage.project()
    operation = (await upload_in_the_stream(stage)).work.operation.id

    async def terminate(message: Msg) -> None:
        await message.term()
        stage.answer(Step.UPLOAD)
        raise TimeoutError

    await taken(stage, terminate)
    assert await ended(stage, operation) == ["SUCCEEDED"]
    assert (await stage.bench.operation(operation)).retry_count == 0
    await stage.becomes("SELECT kind, tenant_id, owner_id FROM dead_letter", [("command", "acme", operation)])
    ((error,),) = await stage.bench.rows("SELECT error FROM dead_letter")
    assert "not a worker of ours" in str(error)


async def test_a_message_that_the_broker_has_lost_while_it_was_out_is_no_letter(stage: Stage) -> None:
    """A broker that is killed comes back with messages that it thinks are out, and that are settled and gone."""
    stage.project()
    await upload_in_the_stream(stage)
    pull = await stage.connection.jetstream.pull_subscribe_bind(durable_name(Step.UPLOAD), Stream.COMMANDS)
    (message,) = await pull.fetch(1, timeout=10)

    await stage.connection.jetstream.delete_msg(Stream.COMMANDS, message.metadata.sequence.stream)

    await stage.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_DEADLETTERS'", [(1,)])
    await stage.becomes("SELECT publication FROM outbox WHERE step = 'upload'", [(2,)])
    assert await stage.bench.rows(LETTERS) == []


async def buried_upload(stage: Stage) -> tuple[OperationId, AnyEvent, LetterId]:
    """An upload whose success was buried, as a fault of ours would have it; its message is acknowledged."""
    operation = (await upload_in_the_stream(stage)).work.operation.id
    event = stage.bench.succeeded(f"{operation}.upload.1.1", VersionUploaded(native_document_id="native"))
    await bury_event(stage, event)
    await taken(stage, lambda message: message.ack())
    await stage.becomes("SELECT count(*) FROM outbox WHERE gone_after IS NOT NULL", [(1,)])
    ((letter_id,),) = await stage.bench.rows("SELECT id FROM dead_letter")
    return operation, event, LetterId(str(letter_id))


async def bury_event(stage: Stage, event: AnyEvent) -> None:
    message = event_message(event, source="worker", traceparent=None)
    stored = StoredMessage(
        sequence=1, subject=message.subject, headers=message.headers, body=message.body, message_id=message.message_id
    )
    letter = letter_of_event(stored, "LookupError('no')")
    await stage.database.write(lambda conn: bury(conn, [letter], stage.bench.around))


async def replay(stage: Stage, letter_id: LetterId) -> None:
    request = stage.bench.request(OPERATOR)
    await stage.database.write(lambda conn: replay_letter(conn, letter_id, "Fixed.", request, stage.bench.around))


async def told(stage: Stage, action: str) -> list[tuple[object, ...]]:
    return await stage.bench.rows(
        f"SELECT actor, outcome, before, after, operation_id FROM audit_entry WHERE action = '{action}'"  # noqa: S608 - ours
    )


async def test_a_replayed_event_is_applied_and_the_operation_goes_on(stage: Stage) -> None:
    stage.project()
    operation, event, letter_id = await buried_upload(stage)
    await asyncio.sleep(0.3)
    assert await stage.bench.rows("SELECT publication FROM outbox") == [(1,)]

    await replay(stage, letter_id)

    assert await ended(stage, operation) == ["SUCCEEDED"]
    assert (await stage.bench.operation(operation)).retry_count == 0
    assert await stage.bench.rows("SELECT status, settled_by FROM dead_letter") == [("REPLAYED", "ana")]
    assert await told(stage, "dead-letter.replayed") == [("projector", "done", "REPLAYING", "REPLAYED", operation)]
    assert await stage.bench.rows(f"SELECT count(*) FROM inbox WHERE event_id = '{event.event_id}'") == [(1,)]  # noqa: S608 - ours


async def test_an_event_that_still_cannot_be_applied_is_the_operators_again_until_it_is_discarded(
    stage: Stage,
) -> None:
    stage.project()
    operation = (await upload_in_the_stream(stage)).work.operation.id
    await bury_event(stage, misfit(stage, operation))
    await taken(stage, lambda message: message.ack())
    ((letter_id,),) = await stage.bench.rows("SELECT id FROM dead_letter")
    await replay(stage, LetterId(str(letter_id)))
    await stage.becomes("SELECT status, settled_by FROM dead_letter", [("OPEN", None)])
    ((error,),) = await stage.bench.rows("SELECT error FROM dead_letter")
    assert "IllegalMove" in str(error)
    assert await told(stage, "dead-letter.reopened") == [("projector", "refused", "REPLAYING", "OPEN", operation)]
    assert (await stage.bench.operation(operation)).is_over is False

    request = stage.bench.request(OPERATOR)
    await stage.database.write(
        lambda conn: discard_letter(conn, LetterId(str(letter_id)), "Lost.", request, stage.bench.around)
    )
    stage.answer(Step.UPLOAD)
    assert await ended(stage, operation) == ["SUCCEEDED"]


def misfit(stage: Stage, operation: OperationId) -> AnyEvent:
    """Its result does not fit its step."""
    return stage.bench.event(f"{operation}.upload.1.1", EventType.SUCCEEDED, result={"kind": "SpaceRemoved"})


async def test_an_event_whose_command_was_answered_meanwhile_comes_too_late_and_changes_nothing(
    stage: Stage,
) -> None:
    stage.project()
    operation = (await upload_in_the_stream(stage)).work.operation.id
    await bury_event(stage, misfit(stage, operation))
    stage.answer(Step.UPLOAD)
    assert await ended(stage, operation) == ["SUCCEEDED"]
    before = await stage.bench.operation(operation)
    ((letter_id,),) = await stage.bench.rows("SELECT id FROM dead_letter")

    await replay(stage, LetterId(str(letter_id)))

    await stage.becomes("SELECT status FROM dead_letter", [("REPLAYED",)])
    assert await stage.bench.operation(operation) == before
    assert await told(stage, "operation.result-discarded") == []


async def test_a_letter_that_is_discarded_before_its_turn_stays_discarded_and_is_not_applied(stage: Stage) -> None:
    operation, letter_id = await buried_without_projector(stage)
    await replay(stage, letter_id)
    (replaying,) = await stage.database.read(lambda conn: replaying_letters(conn, limit=9))
    request = stage.bench.request(OPERATOR)
    await stage.database.write(lambda conn: discard_letter(conn, letter_id, "Lost.", request, stage.bench.around))
    replayer = Replay(
        database=stage.database,
        around=stage.bench.around,
        guard=lambda _: None,
        on_applied=lambda _: pytest.fail("applied"),
    )

    await replayer._replay(replaying)

    assert await stage.bench.rows("SELECT status FROM dead_letter") == [("DISCARDED",)]
    assert (await stage.bench.operation(operation)).status is OperationStatus.PENDING


async def buried_without_projector(stage: Stage) -> tuple[OperationId, LetterId]:
    """An upload whose success was buried."""
    space_id = await stage.bench.active_space()
    operation = (await stage.bench.upload(space_id)).work.operation.id
    uploaded = VersionUploaded(native_document_id="native")
    await bury_event(stage, stage.bench.succeeded(f"{operation}.upload.1.1", uploaded))
    ((letter_id,),) = await stage.bench.rows("SELECT id FROM dead_letter")
    return operation, LetterId(str(letter_id))


async def test_letters_and_overdue_operations_are_counted(stage: Stage) -> None:
    """The bench's clock stands in the past: what it takes on is overdue at once."""
    await buried_without_projector(stage)
    stage.project()
    async with asyncio.timeout(20):
        while stage.registry.get_sample_value("knowgate_dead_letters", {"kind": "event"}) != 1:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
        while stage.registry.get_sample_value("knowgate_overdue_operations") != 1:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)
    assert stage.registry.get_sample_value("knowgate_dead_letters", {"kind": "command"}) == 0
