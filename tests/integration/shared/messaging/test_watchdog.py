"""The watchdog on a real server."""

import threading
from datetime import timedelta

from shared.contracts.enums import Step
from shared.messaging.codec import command_message
from shared.messaging.publisher import Publisher
from shared.messaging.watchdog import Activity, Watchdog
from tests.support.messaging import connected, messaging_settings, upload_command


async def test_it_trips_while_the_event_loop_stands_still(nats_url: str) -> None:
    settings, tripped = messaging_settings(nats_url), threading.Event()
    async with connected(settings) as connection:
        message = command_message(upload_command(), step=Step.UPLOAD, source="test", traceparent=None)
        await Publisher(connection, settings).send(message)
        watchdog = Watchdog(
            settings,
            Activity({Step.UPLOAD: 1}),
            patience=timedelta(seconds=1),
            on_trip=lambda _: tripped.set(),
        )
        watchdog.start()
        assert tripped.wait(10)  # blocks this loop, as a frozen worker would
        watchdog.stop()


async def test_it_keeps_still_while_nothing_waits(nats_url: str) -> None:
    settings, tripped = messaging_settings(nats_url), threading.Event()
    async with connected(settings):
        watchdog = Watchdog(
            settings,
            Activity({Step.UPLOAD: 1, Step.INGEST: 1}),
            patience=timedelta(milliseconds=1),
            on_trip=lambda _: tripped.set(),
        )
        watchdog.start()
        assert not tripped.wait(2.5)
        watchdog.stop()
