"""Declaring streams and consumers on a real server."""

import nats
import pytest
from nats.js.api import ConsumerConfig, StreamConfig

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.messaging.errors import StreamDiffers
from shared.messaging.streams import BUCKET_STREAM, consumer_config, declare, stream_configs
from tests.support.messaging import connected, messaging_settings


async def test_declaring_makes_the_four_streams_and_the_bucket(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        made = {str(seen.config.name) for seen in await connection.jetstream.streams_info()}
    assert made == {"KNOWGATE_COMMANDS", "KNOWGATE_EVENTS", "KNOWGATE_AUDIT", "KNOWGATE_DEADLETTERS", BUCKET_STREAM}


async def test_declaring_makes_one_durable_consumer_for_each_step(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        made = {seen.name for seen in await connection.jetstream.consumers_info(Stream.COMMANDS.value)}
    assert made == {durable_name(step) for step in Step}


async def test_the_server_keeps_what_the_design_asks_for(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        commands = (await connection.jetstream.stream_info("KNOWGATE_COMMANDS")).config
        events = (await connection.jetstream.stream_info("KNOWGATE_EVENTS")).config
        ingest = (await connection.jetstream.consumer_info("KNOWGATE_COMMANDS", "knowgate-ingest")).config
    assert (commands.retention, commands.discard, commands.storage) == ("workqueue", "new", "file")
    assert commands.duplicate_window == 600
    assert (events.max_age, events.max_bytes) == (30 * 86_400, -1)
    assert (ingest.ack_policy, ingest.ack_wait, ingest.max_deliver) == ("explicit", 30, 20)
    assert ingest.filter_subject == "knowgate.command.ingest.*"


async def test_declaring_twice_changes_nothing(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        before = await connection.jetstream.stream_info("KNOWGATE_COMMANDS")
        await declare(connection.jetstream, settings)
        assert (await connection.jetstream.stream_info("KNOWGATE_COMMANDS")).created == before.created


async def test_a_stream_that_differs_is_refused_by_name_and_field_and_stays_as_it_is(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    client = await nats.connect(nats_url)
    try:
        jetstream = client.jetstream()
        foreign = StreamConfig(name="KNOWGATE_EVENTS", subjects=["knowgate.event.*.*"], max_age=60)
        await jetstream.add_stream(foreign.evolve(duplicate_window=60, num_replicas=1, max_bytes=4096))
        with pytest.raises(StreamDiffers) as refusal:
            await declare(jetstream, settings)
        assert {(found.name, found.field) for found in refusal.value.differences} == {
            ("KNOWGATE_EVENTS", "max_age"),
            ("KNOWGATE_EVENTS", "max_bytes"),
            ("KNOWGATE_EVENTS", "duplicate_window"),
        }
        assert "KNOWGATE_EVENTS: max_age should be 2592000.0 and is 60.0 on the server" in refusal.value.message
        assert (await jetstream.stream_info("KNOWGATE_EVENTS")).config.max_bytes == 4096
    finally:
        await client.close()


async def test_a_consumer_that_differs_is_refused_and_stays_as_it_is(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    client = await nats.connect(nats_url)
    try:
        jetstream = client.jetstream()
        for config in stream_configs(settings):
            await jetstream.add_stream(config)
        foreign: ConsumerConfig = consumer_config(Step.INGEST, settings).evolve(ack_wait=5)
        await jetstream.add_consumer("KNOWGATE_COMMANDS", foreign)
        with pytest.raises(StreamDiffers, match=r"knowgate-ingest: ack_wait should be 30\.0 and is 5\.0"):
            await declare(jetstream, settings)
        assert (await jetstream.consumer_info("KNOWGATE_COMMANDS", "knowgate-ingest")).config.ack_wait == 5
    finally:
        await client.close()
