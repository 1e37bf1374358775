"""Publishing on a real server: acknowledged, known again, refused when full, repeated after a restart."""

import asyncio
from pathlib import Path

import pytest

from shared.contracts.enums import Step
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message, command_message, read_command
from shared.messaging.errors import StreamFull
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.publisher import Acked, Publisher
from shared.messaging.stream_state import StreamStates
from tests.support.eventually import until
from tests.support.messaging import connected, messaging_settings, upload_command

COMMANDS = "KNOWGATE_COMMANDS"


def message(number: int, *, publication: int = 1) -> Message:
    return command_message(
        upload_command(number), step=Step.UPLOAD, source="test", traceparent=None, publication=publication
    )


async def test_a_published_command_is_stored_with_its_headers_and_can_be_read_back(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        acked = await Publisher(connection, settings).send(message(7))
        found = await StreamStates(connection).message_at(COMMANDS, acked.sequence)
        look = await StreamStates(connection).look(COMMANDS)
    assert (acked.stream, acked.sequence, acked.is_duplicate) == (COMMANDS, 1, False)
    assert acked.stream_created == look.created
    assert found is not None
    assert found.message_id == "op_7.upload.1.1.1"
    assert found.headers["ce-id"] == "op_7.upload.1.1"
    assert read_command(found.body, found.headers) == upload_command(7)


async def test_the_same_publication_is_a_duplicate_and_another_publication_is_not(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        publisher = Publisher(connection, settings)
        first = await publisher.send(message(1))
        again = await publisher.send(message(1))
        anew = await publisher.send(message(1, publication=2))
    assert (again.sequence, again.is_duplicate) == (first.sequence, True)
    assert (anew.sequence, anew.is_duplicate) == (2, False)


async def test_many_messages_are_acknowledged_in_their_order(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        answers = await Publisher(connection, settings).publish_many([message(number) for number in range(600)])
    assert [answer.sequence for answer in answers if isinstance(answer, Acked)] == list(range(1, 601))


async def test_a_full_stream_is_told_from_a_broker_that_is_away(nats_url: str) -> None:
    settings = messaging_settings(nats_url).model_copy(update={"commands_max_bytes": 1_048_576})
    async with connected(settings) as connection:
        publisher = Publisher(connection, settings)
        one = message(1)
        large = [
            Message(subject=one.subject, body=b"x" * 500_000, headers={}, message_id=str(number)) for number in range(4)
        ]
        answers = await publisher.publish_many(large)
        with pytest.raises(StreamFull):
            await publisher.send(large[3])
        assert isinstance(await publisher.send(one), Acked)
    assert [type(answer) for answer in answers] == [Acked, Acked, StreamFull, StreamFull]


async def test_a_subject_that_no_stream_takes_is_an_error(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        with pytest.raises(StoreUnavailable):
            await Publisher(connection, settings).publish("knowgate.nowhere", b"", {}, "id")


async def test_a_publication_without_an_answer_is_repeated_under_its_id_when_the_broker_is_back(tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path) as server:
        settings = messaging_settings(server.url)
        async with connected(settings) as connection:
            publisher = Publisher(connection, settings)
            first = await publisher.send(message(1))
            server.kill()
            waiting = asyncio.create_task(publisher.send(message(2)))
            many = asyncio.create_task(publisher.publish_many([message(1), message(3)]))
            await asyncio.sleep(0)
            server.start()
            second, (known, third) = await waiting, await many
            look = await StreamStates(connection).look(COMMANDS)
    assert isinstance(known, Acked)
    assert isinstance(third, Acked)
    assert (known.sequence, known.is_duplicate) == (first.sequence, True)
    assert {second.sequence, third.sequence} == {2, 3}
    assert look.messages == 3


async def test_publishing_while_the_broker_is_away_fails_at_once(tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path) as server:
        settings = messaging_settings(server.url)
        async with connected(settings) as connection:
            publisher = Publisher(connection, settings)
            server.kill()
            await until(lambda: not connection.is_connected)
            with pytest.raises(StoreUnavailable, match="not reachable"):
                await publisher.send(message(1))
            assert [type(answer) for answer in await publisher.publish_many([message(1)])] == [StoreUnavailable]


async def test_a_stream_that_was_lost_and_declared_again_has_another_identity(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        publisher = Publisher(connection, settings)
        before = await publisher.send(message(1))
        await connection.jetstream.delete_stream(COMMANDS)
    async with connected(settings) as connection_after:
        publisher_after = Publisher(connection_after, settings)
        after = await publisher_after.send(message(9))
    assert after.sequence == 1
    assert after.stream_created != before.stream_created
