"""A command stream that takes nothing more: what was accepted waits in the database, it shows, and it goes on."""

import asyncio
from collections.abc import Sequence

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from services.api.broker.outgoing import Outgoing
from services.api.metrics import ApiMetrics
from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message
from shared.messaging.errors import StreamFull
from shared.messaging.publisher import Acked, Publisher
from shared.messaging.streams import declare
from tests.integration.broker.working import endings
from tests.integration.projector.conftest import Stage

LEAST = 1_048_576
FILLER = "knowgate.command.remove.filler"
"""Commands of a step that nobody takes in these tests."""


@pytest.fixture
async def full(stage: Stage) -> Stage:
    """A stage whose command stream is as small as it may be, and full to the brim."""
    await stage.connection.jetstream.delete_stream(Stream.COMMANDS)
    stage.messaging = stage.messaging.model_copy(update={"commands_max_bytes": LEAST})
    await declare(stage.connection.jetstream, stage.messaging)
    for size in (500_000, 10_000, 100):
        await fill(stage.publisher, size)
    return stage


async def fill(publisher: Publisher, size: int) -> None:
    answers: Sequence[Acked | StoreUnavailable] = [Acked(stream="", stream_created="", sequence=0, is_duplicate=False)]
    number = 0
    while isinstance(answers[0], Acked):
        number += 1
        filler = Message(subject=FILLER, body=b"x" * size, headers={}, message_id=f"{size}-{number}")
        answers = await publisher.publish_many([filler])
    assert isinstance(answers[0], StreamFull)


async def make_room(stage: Stage) -> None:
    await stage.connection.jetstream.purge_stream(Stream.COMMANDS, subject=FILLER)


async def test_the_dispatcher_keeps_what_the_stream_does_not_take_and_goes_on_when_it_has_room(full: Stage) -> None:
    accepted = [await full.bench.create_space(f"space-{number}") for number in range(20)]
    with capture_logs() as logs:
        full.project()
        full.answer()
        async with asyncio.timeout(20):
            while not counts(full.registry, "knowgate_dispatcher_is_stream_full", 1):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await asyncio.sleep(1)
        assert await full.bench.rows("SELECT count(*) FROM outbox WHERE published_at IS NULL") == [(20,)]
        await make_room(full)
        assert await endings(full, [one.work.operation.id for one in accepted]) == ["SUCCEEDED"] * 20
        async with asyncio.timeout(20):
            while not counts(full.registry, "knowgate_dispatcher_is_stream_full", 0):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    told = [log["event"] for log in logs if log["event"].startswith("projector.stream.")]
    assert told == ["projector.stream.full", "projector.stream.has_room"]


def counts(registry: CollectorRegistry, name: str, value: float) -> bool:
    return registry.get_sample_value(name) == value


async def test_what_the_api_could_not_publish_is_published_by_the_dispatcher(full: Stage) -> None:
    accepted = await full.bench.create_space()
    registry = CollectorRegistry()
    outgoing = Outgoing(full.publisher, ApiMetrics(registry))
    outgoing.offer(accepted.command)
    await outgoing.stop()
    with capture_logs() as logs:
        await outgoing.run()
    assert [log["reason"] for log in logs if log["event"] == "api.command.left"] == ["The queue is full."]
    full.project()
    full.answer()
    await make_room(full)
    assert await endings(full, [accepted.work.operation.id]) == ["SUCCEEDED"]


async def test_a_full_stream_goes_on_delivering_what_it_holds(full: Stage) -> None:
    pull = await full.connection.jetstream.pull_subscribe_bind(durable_name(Step.REMOVE), Stream.COMMANDS.value)
    (message,) = await pull.fetch(1, timeout=5)
    await message.ack_sync()
    filler = Message(subject=FILLER, body=b"y", headers={}, message_id="one more")
    assert isinstance(await full.publisher.send(filler), Acked)
