"""How a slot of a worker gets its commands: one at a time, and never one that has waited here with its clock running.

Takes the place of the client's own pull under FastStream, which sends request after request to a broker that is slow or
away, asks a consumer that is gone thousands of times a second, spins on a closed connection, and says nothing of it.
"""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import structlog
from faststream.nats import NatsBroker
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from shared.domain.errors import StoreUnavailable
from shared.messaging.connection import Connection
from shared.messaging.pull import Pull, Silence

log = structlog.get_logger()

PAUSE = timedelta(milliseconds=250)
"""Before a consumer that is gone, or a connection that is closed, is asked again."""
FAILURES_TOLD_EVERY = timedelta(seconds=10)
USUAL_PATIENCE = timedelta(seconds=1)


class SlotPull(JetStreamContext.PullSubscription):
    """The pull of one slot. FastStream calls `fetch` again and again while the slot is free, and `unsubscribe` once."""

    def __init__(self, connection: Connection, *, stream: str, consumer: str) -> None:
        self._connection = connection
        self._names = (stream, consumer)
        self._pull: Pull | None = None
        self._generation = 0
        self._failures = 0
        """In a row. One alone is worth no word: a broker that is just starting or stopping answers so."""
        self._tell_again_at = 0.0

    async def fetch(
        self,
        batch: int = 1,
        timeout: float | None = None,  # noqa: ASYNC109 - FastStream's word for it
        heartbeat: float | None = None,
    ) -> list[Msg]:
        """The next command, or nothing when none came for a while. Raises nothing."""
        patience = USUAL_PATIENCE if timeout is None else timedelta(seconds=timeout)
        try:
            await self._connection.wait_connected(patience)
            if self._connection.line.is_ending:
                await asyncio.sleep(patience.total_seconds())
                return []
            pull = await self._opened(patience)
            taken = await pull.take()
        except Silence:
            await self._look_into_silence(patience)
        except (StoreUnavailable, NatsError, OSError) as error:
            await self._begin_anew(str(error))
        else:
            self._failures = 0
            return taken
        return []

    async def unsubscribe(self) -> None:
        """Ask for nothing more."""
        pull, self._pull = self._pull, None
        if pull is not None:
            await pull.__aexit__()

    async def _opened(self, patience: timedelta) -> Pull:
        """A connection that was restored may have lost what was asked: it is asked anew, where no old answer comes."""
        if self._pull is not None and self._generation != self._connection.generation:
            await self.unsubscribe()
        if self._pull is None:
            self._generation = self._connection.generation
            stream, consumer = self._names
            pull = Pull(
                self._connection, stream=stream, consumer=consumer, batch_size=1, patience=patience, is_ahead=False
            )
            self._pull = await pull.__aenter__()
        return self._pull

    async def _look_into_silence(self, patience: timedelta) -> None:
        """A broker that is merely slow still has our request. One that answers us has not: then it is asked anew."""
        try:
            await self._connection.flush(patience)
        except StoreUnavailable:
            return
        await self._begin_anew("silence")

    async def _begin_anew(self, failure: str) -> None:
        """While the broker is away nothing can be asked, and a connection that comes back is another one anyway."""
        if self._connection.client.is_closed:
            await asyncio.sleep(PAUSE.total_seconds())
        if not self._connection.is_connected:
            return
        self._failures += 1
        now = time.monotonic()
        if self._failures > 1 and now >= self._tell_again_at:
            self._tell_again_at = now + FAILURES_TOLD_EVERY.total_seconds()
            log.warning("messaging.slot.unanswered", consumer=self._names[1], error=failure)
        with suppress(NatsError, OSError):
            await self.unsubscribe()
        await asyncio.sleep(PAUSE.total_seconds())


class SlotPulls(JetStreamContext):
    """The client's JetStream as FastStream is to see it."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.client)
        self._connection = connection

    async def pull_subscribe(  # type: ignore[override]
        self, subject: str, *, stream: str, durable: str, **_: Any
    ) -> SlotPull:
        """A slot on a consumer that we have declared; one that is missing is not made here."""
        return SlotPull(self._connection, stream=stream, consumer=durable)


def pull_one_at_a_time(broker: NatsBroker, connection: Connection) -> None:
    """Have the subscribers of a broker that is connected already get their messages by `SlotPull`."""
    broker.config.connection_state.connect(connection.client, SlotPulls(connection))
