"""Connections on a real server: they come back, and say clearly when they never will."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from nats.aio.msg import Msg
from pydantic import SecretStr

from shared.domain.errors import StoreUnavailable
from shared.messaging.bound_child import BoundChild
from shared.messaging.connection import connect, connection_of, make_broker
from shared.messaging.errors import BrokerRefused
from shared.messaging.local_server import LocalNatsServer, find_program, write_configuration
from shared.messaging.streams import declare
from tests.support.eventually import until
from tests.support.messaging import messaging_settings


@contextmanager
def another_server(directory: Path, configuration: str) -> Iterator[None]:
    """A server at the same address that does not know our token."""
    file = directory / "another.conf"
    file.write_text(configuration)
    child = BoundChild([str(find_program()), "-c", str(file)], output=directory / "another.log")
    try:
        yield
    finally:
        child.kill()


async def test_a_connection_comes_back_with_another_generation(tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path) as server:
        connection = await connect(messaging_settings(server.url), name="test")
        server.kill()
        await until(lambda: not connection.is_connected)
        with pytest.raises(StoreUnavailable):
            await connection.wait_connected(timedelta(milliseconds=50))
        server.start()
        await connection.wait_connected(timedelta(seconds=5))
        await connection.flush(timedelta(seconds=1))
        assert connection.generation == 1
        await connection.close()


async def test_a_broker_that_answers_too_late_is_heard_again_at_once(tmp_path: Path) -> None:
    """The client's own flush would stop reading for good when its answer comes after its time."""
    with LocalNatsServer(tmp_path) as server:
        connection = await connect(messaging_settings(server.url), name="test")
        os.kill(server.pid, signal.SIGSTOP)
        try:
            for _ in range(3):
                with pytest.raises(StoreUnavailable, match="did not confirm"):
                    await connection.flush(timedelta(milliseconds=200))
        finally:
            os.kill(server.pid, signal.SIGCONT)
        await connection.flush(timedelta(seconds=5))
        assert (await connection.jetstream.account_info()).streams == 0
        assert connection.generation == 0
        await connection.close()


async def test_a_flush_returns_behind_everything_that_was_sent(nats_url: str) -> None:
    sender, heard = await connect(messaging_settings(nats_url), name="sender"), list[bytes]()
    receiver = await connect(messaging_settings(nats_url), name="receiver")

    async def hear(message: Msg) -> None:
        heard.append(message.data)

    await receiver.client.subscribe("somewhere", cb=hear)
    await receiver.flush(timedelta(seconds=5))
    for number in range(100):
        await sender.client.publish("somewhere", b"%d" % number)
    await sender.flush(timedelta(seconds=5))
    await receiver.flush(timedelta(seconds=5))
    await until(lambda: len(heard) == 100)
    await sender.close()
    await receiver.close()


async def test_a_wrong_token_is_refused_at_once(nats_url: str) -> None:
    wrong = messaging_settings(nats_url.replace("nats://", "nats://wrong"))
    with pytest.raises(BrokerRefused):
        await asyncio.wait_for(connect(wrong, name="test"), 5)


def test_a_broker_that_refuses_a_connection_it_had_ends_the_process(tmp_path: Path) -> None:
    """A reconnect that the server refuses would otherwise be given up in silence.

    In a loop of its own: the client's task ends by the refusal, and nobody can await it.
    """
    assert asyncio.run(_refused(tmp_path)) == ["worker"]


async def _refused(directory: Path) -> list[str]:
    lost: list[str] = []
    with LocalNatsServer(directory) as server:
        settings = messaging_settings(server.url)
        broker, line = make_broker(
            settings, name="worker", graceful_timeout=timedelta(seconds=1), on_closed=lost.append
        )
        connection = await connection_of(broker, line, settings)
        server.kill()
        port = int(server.url.rpartition(":")[2])
        with another_server(directory, write_configuration(directory=directory, token="another", port=port)):
            await until(lambda: bool(lost))
        line.is_ending = True
        await connection.close()
    return lost


async def test_the_token_may_stand_apart_from_the_address(nats_url: str) -> None:
    token, _, place = nats_url.removeprefix("nats://").partition("@")
    settings = messaging_settings(f"nats://{place}").model_copy(update={"token": SecretStr(token)})
    connection = await connect(settings, name="test")
    assert connection.is_connected
    await connection.close()
    broker, line = make_broker(settings, name="test", graceful_timeout=timedelta(seconds=1))
    assert (await connection_of(broker, line, settings)).is_connected
    line.is_ending = True
    await broker.stop()


async def test_a_connection_that_closes_by_itself_is_reported_and_one_that_we_close_is_not(nats_url: str) -> None:
    settings, lost = messaging_settings(nats_url), list[str]()
    ours = await connect(settings, name="ours", on_closed=lost.append)
    await ours.close()
    theirs = await connect(settings, name="theirs", on_closed=lost.append)
    await theirs.client.close()
    assert lost == ["theirs"]


async def test_the_broker_of_the_framework_shares_its_connection(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    broker, line = make_broker(settings, name="test", graceful_timeout=timedelta(seconds=1))
    connection = await connection_of(broker, line, settings)
    await declare(connection.jetstream, settings)
    await broker.start()
    assert await broker.ping(timeout=1)
    line.is_ending = True
    await broker.stop()
    assert connection.client.is_closed
