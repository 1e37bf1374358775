"""Streams and consumers that somebody removes or changes under a gateway that works."""

import asyncio

from nats.js.api import DiscardPolicy
from structlog.testing import capture_logs
from structlog.typing import EventDict

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.messaging.streams import consumer_config, stream_configs
from tests.integration.broker.conftest import Ground
from tests.integration.broker.working import accept, endings, retries
from tests.integration.projector.conftest import Stage


async def test_work_goes_on_when_every_consumer_of_it_is_removed(ground: Ground) -> None:
    stage = ground.stage
    stage.project()
    async with ground.worker():
        operations = await accept(stage, 30)
        for step in (Step.UPLOAD, Step.INGEST):
            await stage.connection.jetstream.delete_consumer(Stream.COMMANDS.value, durable_name(step))
        assert await endings(stage, operations) == ["SUCCEEDED"] * 30
    assert await retries(stage, operations) == 0


async def test_a_consumer_that_was_changed_is_told_by_its_name_and_what_differs(stage: Stage) -> None:
    changed = consumer_config(Step.INGEST, stage.messaging).evolve(ack_wait=5, max_deliver=9)
    with capture_logs() as logs:
        stage.project()
        await stage.becomes("SELECT holder FROM lease", [("one",)])
        await stage.connection.jetstream.add_consumer(Stream.COMMANDS.value, changed)
        error = await refusal(logs)
        stage.answer()
        accepted = await stage.bench.create_space()
        assert await endings(stage, [accepted.work.operation.id]) == ["SUCCEEDED"]
    assert error == (
        "knowgate-ingest: ack_wait should be 30.0 and is 5.0 on the server; "
        "knowgate-ingest: max_deliver should be 20 and is 9 on the server."
    )


async def test_a_consumer_whose_filter_was_changed_is_told(stage: Stage) -> None:
    changed = consumer_config(Step.INGEST, stage.messaging).evolve(filter_subject="knowgate.command.ingest.one")
    with capture_logs() as logs:
        stage.project()
        await stage.connection.jetstream.add_consumer(Stream.COMMANDS.value, changed)
        error = await refusal(logs)
    assert "filter_subject should be 'knowgate.command.ingest.*' and is 'knowgate.command.ingest.one'" in error


async def test_a_stream_that_was_changed_is_told_by_its_name_and_what_differs(stage: Stage) -> None:
    commands, *_ = stream_configs(stage.messaging)
    with capture_logs() as logs:
        stage.project()
        await stage.connection.jetstream.update_stream(commands.evolve(discard=DiscardPolicy.OLD, max_msgs=100))
        error = await refusal(logs)
    assert "KNOWGATE_COMMANDS: discard should be 'new' and is 'old' on the server" in error
    assert "KNOWGATE_COMMANDS: max_msgs should be -1 and is 100 on the server" in error


async def refusal(logs: list[EventDict]) -> str:
    """What the look at streams and consumers complains of, as soon as it does."""
    async with asyncio.timeout(20):
        while True:
            for log in logs:
                if log["event"] == "projector.round.refused" and log["round"] == "declare":
                    return str(log["error"])
            await asyncio.sleep(0.02)
