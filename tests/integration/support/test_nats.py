"""The nats-server that a run of tests shares holds nothing when a test begins."""

import nats
from nats.js import JetStreamContext


async def test_a_test_finds_an_empty_server_and_may_leave_streams(nats_url: str) -> None:
    assert await add_stream(nats_url) == ["LEFT_OVER"]


async def test_the_next_test_finds_it_empty_again(nats_url: str) -> None:
    assert await add_stream(nats_url) == ["LEFT_OVER"]


async def add_stream(url: str) -> list[str | None]:
    connection = await nats.connect(url)
    try:
        streams: JetStreamContext = connection.jetstream()
        before = await streams.streams_info()
        assert before == []
        await streams.add_stream(name="LEFT_OVER", subjects=["left"])
        return [stream.config.name for stream in await streams.streams_info()]
    finally:
        await connection.close()
