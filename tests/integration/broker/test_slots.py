"""How the slots of a worker get their commands from a broker that freezes, dies, or loses their consumer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import pytest
from nats.aio.msg import Msg

from services.worker.consumers import subscribe
from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.messaging.codec import command_message
from shared.messaging.connection import Connection, connection_of, make_broker
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.publisher import Publisher
from shared.messaging.settings import MessagingSettings
from shared.messaging.slot_pull import pull_one_at_a_time
from shared.messaging.streams import declare
from tests.integration.broker.conftest import frozen
from tests.support.eventually import until
from tests.support.messaging import connected, upload_command

SLOTS = 2
COMMANDS = 8
UPLOADS = durable_name(Step.UPLOAD)


@dataclass(slots=True, kw_only=True)
class Slots:
    """Two slots of a worker, each busy with what it took until it is told otherwise."""

    connection: Connection
    taken: list[Msg] = field(default_factory=list)
    lets_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, step: Step, message: Msg) -> None:
        self.taken.append(message)
        await self.lets_go.wait()
        await message.ack()

    @property
    def sequences(self) -> list[int]:
        return [message.metadata.sequence.stream for message in self.taken]

    def have_taken(self, number: int) -> bool:
        """Whether so many different commands have come."""
        return len(set(self.sequences)) == number


@asynccontextmanager
async def slots_of(settings: MessagingSettings, on_closed: list[str] | None = None) -> AsyncIterator[Slots]:
    """Two slots that have asked for their first command."""
    lost = [] if on_closed is None else on_closed
    broker, line = make_broker(settings, name="worker", graceful_timeout=timedelta(seconds=1), on_closed=lost.append)
    connection = await connection_of(broker, line, settings)
    await declare(connection.jetstream, settings)
    slots = Slots(connection=connection)
    pull_one_at_a_time(broker, connection)
    subscribe(broker, {Step.UPLOAD: SLOTS}, slots.take, fetch_timeout=settings.fetch_timeout)
    await broker.start()
    try:
        async with asyncio.timeout(10):
            while (await connection.jetstream.consumer_info(Stream.COMMANDS.value, UPLOADS)).num_waiting < SLOTS:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield slots
    finally:
        line.is_ending = True
        slots.lets_go.set()
        if not connection.client.is_closed:
            await broker.stop()


async def publish(settings: MessagingSettings, number: int) -> Connection:
    """Publish so many commands on another connection, which comes back closed."""
    async with connected(settings) as connection:
        publisher = Publisher(connection, settings)
        for n in range(number):
            await publisher.send(command_message(upload_command(n), step=Step.UPLOAD, source="test", traceparent=None))
        return connection


async def in_hand(slots: Slots) -> int:
    """How many commands the broker believes delivered and not settled."""
    seen = await slots.connection.jetstream.consumer_info(Stream.COMMANDS.value, UPLOADS)
    return int(seen.num_ack_pending or 0)


@pytest.mark.parametrize("trouble", ["frozen", "killed"])
async def test_slots_hold_no_more_than_they_work_on_when_a_broker_is_back(
    server: LocalNatsServer, messaging: MessagingSettings, trouble: str
) -> None:
    """Each request that a client repeats meanwhile would bring a command that waits in it with its clock running."""
    async with slots_of(messaging) as slots:
        if trouble == "frozen":
            with frozen(server.pid):
                await asyncio.sleep(6 * messaging.fetch_timeout.total_seconds())
        else:
            server.kill()
            await asyncio.sleep(6 * messaging.fetch_timeout.total_seconds())
            assert slots.connection.client.pending_data_size < 1000  # nothing piles up, however long it takes
            server.start()
        await publish(messaging, COMMANDS)
        await until(lambda: len(slots.taken) == SLOTS)
        await asyncio.sleep(2 * messaging.fetch_timeout.total_seconds())
        assert await in_hand(slots) == SLOTS
        slots.lets_go.set()
        await until(lambda: len(slots.taken) == COMMANDS)
    assert slots.sequences == list(range(1, COMMANDS + 1))


async def test_slots_go_on_after_a_restart_within_their_request(
    server: LocalNatsServer, messaging: MessagingSettings
) -> None:
    async with slots_of(messaging) as slots:
        slots.lets_go.set()
        for restart in range(1, 4):
            server.kill()
            server.start()
            async with connected(messaging) as connection:
                message = command_message(upload_command(restart), step=Step.UPLOAD, source="test", traceparent=None)
                await Publisher(connection, messaging).send(message)
            await until(partial(slots.have_taken, restart))
    assert sorted(set(slots.sequences)) == [1, 2, 3]


async def test_slots_whose_consumer_is_removed_ask_seldom_and_take_from_the_one_that_is_declared_anew(
    messaging: MessagingSettings,
) -> None:
    async with slots_of(messaging) as slots:
        slots.lets_go.set()
        async with connected(messaging) as other:
            await other.jetstream.delete_consumer(Stream.COMMANDS.value, UPLOADS)
            before = slots.connection.client.stats["out_msgs"]
            await asyncio.sleep(2)
            asked = slots.connection.client.stats["out_msgs"] - before
            await declare(other.jetstream, messaging)
        await publish(messaging, COMMANDS)
        await until(lambda: len(slots.taken) == COMMANDS)
    assert asked < 40


async def test_slots_on_a_connection_that_is_closed_for_good_leave_the_loop_to_others(
    messaging: MessagingSettings,
) -> None:
    lost: list[str] = []
    async with slots_of(messaging, lost) as slots:
        await slots.connection.client.close()
        ticks = 0
        async with asyncio.timeout(10):
            while ticks < 50:
                await asyncio.sleep(0.01)
                ticks += 1
    assert lost == ["worker"]
