"""How many commands the broker has delivered to workers since it came back."""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from typing import Final

from nats.errors import Error as NatsError
from pydantic import SecretStr

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.messaging.connection import Connection, connect
from shared.messaging.settings import MessagingSettings

STEPS: Final = (Step.UPLOAD, Step.INGEST)
LOOK_EVERY: Final = timedelta(milliseconds=20)
ANSWERS_WITHIN: Final = timedelta(seconds=2)


async def open_watch(url: str) -> "Deliveries":
    """Watch the broker at an address."""
    settings = MessagingSettings(
        url=SecretStr(url), reconnect_wait=timedelta(milliseconds=20), publish_timeout=ANSWERS_WITHIN
    )
    return Deliveries(await connect(settings, name="watch"))


class Deliveries:
    """Asks the consumers of the load's steps, on a connection of its own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def close(self) -> None:
        """Ask no more."""
        await self._connection.close()

    async def more(self, within: timedelta) -> bool:
        """Whether something more is delivered in time, counted from the first answer of the broker."""
        deadline = time.monotonic() + within.total_seconds()
        before: int | None = None
        while time.monotonic() < deadline:
            with suppress(NatsError, TimeoutError, OSError):
                now = await self._delivered()
                if before is None:
                    before = now
                if now != before:
                    return True
            await asyncio.sleep(LOOK_EVERY.total_seconds())
        return False

    async def _delivered(self) -> int:
        total = 0
        for step in STEPS:
            seen = await self._connection.jetstream.consumer_info(Stream.COMMANDS.value, durable_name(step))
            total += 0 if seen.delivered is None else seen.delivered.consumer_seq
        return total
