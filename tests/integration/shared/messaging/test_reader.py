"""Reading events in order from a real server, across its death."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from shared.messaging.codec import event_message, read_event
from shared.messaging.connection import Connection
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader, ReadingEnded
from shared.messaging.settings import MessagingSettings
from shared.messaging.stream_state import StoredMessage
from tests.support.messaging import connected, messaging_settings, started_event


async def publish_events(connection: Connection, settings: MessagingSettings, numbers: range) -> None:
    messages = [event_message(started_event(number), source="test", traceparent=None) for number in numbers]
    await Publisher(connection, settings).publish_many(messages)


async def read_until(reader: EventReader, after: int, last: int) -> list[int]:
    """The sequences read until `last` has come, beginning anew whenever a reading ends."""
    sequences: list[int] = []
    while after < last:
        try:
            async with aclosing(reader.read(after)) as batches:
                async for batch in batches:
                    sequences += [message.sequence for message in batch]
                    after = sequences[-1] if sequences else after
                    if after >= last:
                        break
        except ReadingEnded:
            await asyncio.sleep(0.05)
    return sequences


async def first_batch(reader: EventReader) -> tuple[StoredMessage, ...]:
    async with aclosing(reader.read(0)) as batches:
        return await anext(batches)


async def read_without_end(reader: EventReader, on_batch: Callable[[], Awaitable[object]]) -> None:
    async with aclosing(reader.read(0)) as batches:
        async for _ in batches:
            await on_batch()


async def test_events_are_read_in_order_behind_a_position(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        await publish_events(connection, settings, range(1, 451))
        reader = EventReader(connection, settings)
        assert await read_until(reader, 0, 450) == list(range(1, 451))
        assert await read_until(reader, 440, 450) == list(range(441, 451))


async def test_a_read_message_carries_what_was_published(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        await publish_events(connection, settings, range(5, 6))
        (message,) = await first_batch(EventReader(connection, settings))
    assert message.message_id == "op_5.upload.1.1.run.1"
    assert message.subject == "knowgate.event.started.op_5"
    assert read_event(message.body, message.headers) == started_event(5)


async def test_an_empty_batch_says_that_nothing_came(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        assert await first_batch(EventReader(connection, settings)) == ()


async def test_a_position_can_be_compared_with_the_stream(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        await publish_events(connection, settings, range(1, 4))
        reader = EventReader(connection, settings)
        look = await reader.look()
        second, beyond = await reader.message_at(2), await reader.message_at(4)
    assert look.last_sequence == 3
    assert second is not None
    assert second.message_id == "op_2.upload.1.1.run.1"
    assert beyond is None


async def test_reading_goes_on_without_loss_or_repetition_after_the_server_was_killed(tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path) as server:
        settings = messaging_settings(server.url)
        async with connected(settings) as connection:
            await publish_events(connection, settings, range(1, 11))
            reading = asyncio.create_task(read_until(EventReader(connection, settings), 0, 20))
            await asyncio.sleep(0.2)
            server.kill()
            server.start()
            async with connected(settings) as other:
                await publish_events(other, settings, range(11, 21))
            assert await asyncio.wait_for(reading, 20) == list(range(1, 21))


async def test_a_reading_whose_consumer_was_removed_ends(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:

        async def remove_the_consumer() -> None:
            (consumer,) = await connection.jetstream.consumers_info("KNOWGATE_EVENTS")
            await connection.jetstream.delete_consumer("KNOWGATE_EVENTS", consumer.name)

        with pytest.raises(ReadingEnded):
            await read_without_end(EventReader(connection, settings), remove_the_consumer)


async def test_a_reading_whose_consumer_holds_back_what_it_has_ends(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        reading = asyncio.create_task(read_without_end(EventReader(connection, settings), nothing))
        async with asyncio.timeout(10):
            while not (made := await connection.jetstream.consumers_info("KNOWGATE_EVENTS")):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await connection.jetstream.pause_consumer("KNOWGATE_EVENTS", made[0].name, pause_until="2100-01-01T00:00:00Z")
        await publish_events(connection, settings, range(1, 4))
        with pytest.raises(ReadingEnded, match="holds messages back"):
            await asyncio.wait_for(reading, 20)
        assert await read_until(EventReader(connection, settings), 0, 3) == [1, 2, 3]


async def nothing() -> None:
    """Let a batch pass."""


async def test_a_reading_that_is_left_takes_its_consumer_with_it(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        await first_batch(EventReader(connection, settings))
        assert await connection.jetstream.consumers_info("KNOWGATE_EVENTS") == []
