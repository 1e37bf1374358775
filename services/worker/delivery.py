"""One delivery of a message, as far as the worker needs it, over the client's own form."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from shared.domain.errors import StoreUnavailable
from shared.messaging.connection import Connection
from shared.messaging.dead_letters import origin_of

AFTER_A_BREAK = timedelta(milliseconds=500)
"""How long the broker may take to confirm when the connection broke since the delivery: one that was killed may have
forgotten that it delivered, and then it says nothing. What it does not know to be settled it delivers again."""


class Delivery(Protocol):
    """A message that is ours until we settle it or fall silent."""

    @property
    def body(self) -> bytes:
        """What was sent."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What was sent with it."""

    @property
    def number(self) -> int:
        """1 for the first delivery of this message, and one more for each time that nobody settled it."""

    @property
    def origin(self) -> str:
        """Which message of which stream it is."""

    async def in_progress(self) -> None:
        """Tell the broker, by the next flush, that the work goes on."""

    async def ack(self) -> None:
        """Settle it: the command is answered. StoreUnavailable when the broker did not confirm."""

    async def terminate(self) -> None:
        """Settle it: it can never be worked on."""


class JetStreamDelivery:
    """A delivery from JetStream."""

    def __init__(self, message: Msg, connection: Connection, *, timeout: timedelta) -> None:
        self._message = message
        self._connection = connection
        self._timeout = timeout
        self._generation = connection.generation

    @property
    def body(self) -> bytes:
        """See `Delivery`."""
        return self._message.data

    @property
    def headers(self) -> Mapping[str, str]:
        """See `Delivery`."""
        return self._message.headers or {}

    @property
    def number(self) -> int:
        """See `Delivery`."""
        return self._message.metadata.num_delivered

    @property
    def origin(self) -> str:
        """See `Delivery`."""
        metadata = self._message.metadata
        return origin_of(metadata.stream, metadata.sequence.stream)

    async def in_progress(self) -> None:
        """See `Delivery`."""
        try:
            await self._message.in_progress()
        except (NatsError, OSError) as error:
            raise StoreUnavailable("The heartbeat could not be sent.") from error

    async def ack(self) -> None:
        """See `Delivery`. A plain acknowledgement would sit in a buffer and die with the process."""
        is_unbroken = self._connection.generation == self._generation
        try:
            async with self._connection.line.answer_within(self._timeout if is_unbroken else AFTER_A_BREAK):
                await (await self._connection.inbox.ask(self._message.reply))
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable("The acknowledgement was not confirmed.") from error

    async def terminate(self) -> None:
        """See `Delivery`."""
        try:
            await self._message.term()
        except (NatsError, OSError) as error:
            raise StoreUnavailable("The message could not be settled.") from error
        await self._connection.flush(self._timeout)
