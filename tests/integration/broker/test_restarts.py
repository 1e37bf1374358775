"""A broker that dies in the middle of things, comes back late, comes back empty: everything accepted ends, and once."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.catalogue import Stream
from shared.contracts.enums import Step
from shared.contracts.events import StepSucceeded
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message, command_message
from shared.messaging.connection import Connection
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.publisher import Acked, Publisher
from shared.messaging.settings import MessagingSettings
from shared.messaging.stream_state import StreamStates
from shared.providers.scripted.script import Call, Script
from tests.integration.broker.conftest import Ground, frozen, rob
from tests.integration.broker.working import accept, endings, retries
from tests.support.eventually import until
from tests.support.messaging import connected, upload_command
from tests.support.worker import Commands, Place, desk_at, worker_at


def message(number: int) -> Message:
    return command_message(upload_command(number), step=Step.UPLOAD, source="test", traceparent=None)


async def test_every_message_is_stored_once_although_the_broker_dies_while_they_are_published(
    server: LocalNatsServer, messaging: MessagingSettings
) -> None:
    async with connected(messaging) as connection:
        publisher = Publisher(connection, messaging)
        publishing = asyncio.create_task(publisher.publish_many([message(number) for number in range(3000)]))
        for _ in range(3):
            await asyncio.sleep(0.05)
            server.kill()
            server.start()
        answers = await publishing
        unanswered = [number for number, answer in enumerate(answers) if not isinstance(answer, Acked)]
        await connection.wait_connected(timedelta(seconds=10))
        again = await publisher.publish_many([message(number) for number in unanswered])
        assert all(isinstance(answer, Acked) for answer in again)
        assert await stored(connection) == 3000


async def stored(connection: Connection) -> int:
    return (await StreamStates(connection).look(Stream.COMMANDS)).messages


async def test_a_publication_that_was_stored_without_an_answer_is_one_message(
    server: LocalNatsServer, messaging: MessagingSettings
) -> None:
    hasty = messaging.model_copy(update={"publish_timeout": timedelta(milliseconds=200)})
    async with connected(hasty) as connection:
        publisher = Publisher(connection, hasty)
        await publisher.send(message(1))
        with frozen(server.pid), pytest.raises(StoreUnavailable):
            await publisher.send(message(2))
        await connection.flush(timedelta(seconds=5))
        again = await publisher.send(message(2))
        assert (again.is_duplicate, again.sequence) == (True, 2)
        assert await stored(connection) == 2


async def test_a_lost_acknowledgement_brings_a_command_again_and_changes_nothing(
    messaging: MessagingSettings, server: LocalNatsServer, tmp_path: Path
) -> None:
    """The broker dies between the worker's answer and its acknowledgement."""
    place = Place(root=tmp_path, messaging=messaging)
    async with desk_at(place) as desk, worker_at(place):
        desk.provider.tell("pump.txt", Script(ingest_time=timedelta(milliseconds=300)))
        await desk.issue(Commands().reindex())
        await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
        server.kill()
        await asyncio.sleep(0.5)
        server.start()
        await until(lambda: desk.connection.generation == 1)
        async with asyncio.timeout(20):
            while await desk.commands_left():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        first, *_ = await desk.endings()
        assert isinstance(first, StepSucceeded)
        assert desk.provider.calls(Call.UPLOAD, "ver_1") == desk.provider.calls(Call.START, "ver_1") == 1


async def test_a_broker_that_comes_back_empty_costs_nothing_that_was_accepted(
    ground: Ground, server: LocalNatsServer, tmp_path: Path
) -> None:
    stage = ground.stage
    stage.project()
    async with ground.worker():
        before = await accept(stage, 5)
        assert await endings(stage, before) == ["SUCCEEDED"] * 5
        operations = await accept(stage, 50, space="plans")
        first = await StreamStates(stage.connection).look(Stream.EVENTS)
        rob(server, tmp_path / "nats")
        assert await endings(stage, operations) == ["SUCCEEDED"] * 50
    anew = await StreamStates(stage.connection).look(Stream.EVENTS)
    assert anew.created != first.created
    await stage.becomes(
        "SELECT stream_created, sequence FROM projector_position WHERE stream = 'KNOWGATE_EVENTS'",
        [(anew.created, anew.last_sequence)],
    )
    assert await retries(stage, operations) == 0
    assert await stage.bench.rows("SELECT count(*) FROM outbox") == [(0,)]


async def test_restarts_while_everybody_works_cost_no_retry(ground: Ground, server: LocalNatsServer) -> None:
    stage = ground.stage
    stage.project()
    async with ground.worker():
        operations = await accept(stage, 60)
        for _ in range(5):
            server.kill()
            server.start()
            await asyncio.sleep(0.2)
        assert await endings(stage, operations) == ["SUCCEEDED"] * 60
    assert await retries(stage, operations) == 0


async def test_a_broker_that_stands_still_for_longer_than_the_acknowledgement_wait_costs_nothing(
    ground: Ground, server: LocalNatsServer
) -> None:
    """Workers fence themselves, what they had comes again, and the connections are heard at once."""
    stage = ground.stage
    stage.project()
    async with ground.worker():
        operations = await accept(stage, 20)
        with frozen(server.pid):
            await asyncio.sleep(2 * ground.place.messaging.ack_wait.total_seconds())
        assert await endings(stage, operations) == ["SUCCEEDED"] * 20
    assert stage.connection.generation == 0
