"""Reading a stream in order, from a sequence on, without acknowledgements: how the projector gets its events.

The position belongs to the reader's owner, who stores it with what it made of the messages. So a reading ends with
every error and every reconnect: the owner then compares its position with the stream and begins a new one.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from shared.contracts.catalogue import Stream
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import MESSAGE_ID
from shared.messaging.connection import Connection
from shared.messaging.pull import Pull
from shared.messaging.settings import MessagingSettings
from shared.messaging.stream_state import StoredMessage, StreamLook, StreamStates

IDLE_LIFE = timedelta(minutes=2)
"""How long the broker keeps a consumer that nobody pulls from."""
DROP_TIMEOUT = timedelta(seconds=1)


class ReadingEnded(StoreUnavailable):
    """The reading cannot go on; compare the position with the stream, then read again."""

    message = "The reading of the stream was interrupted."


class EventReader:
    """Reads one stream on one connection."""

    def __init__(
        self, connection: Connection, settings: MessagingSettings, *, stream: str = Stream.EVENTS, batch_size: int = 200
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._patience = settings.fetch_timeout
        self._stream = str(stream)
        self._batch_size = batch_size
        self._states = StreamStates(connection)

    def of(self, stream: str) -> "EventReader":
        """A reader of another stream on the same connection."""
        return EventReader(self._connection, self._settings, stream=stream, batch_size=self._batch_size)

    async def look(self) -> StreamLook:
        """The stream's identity, first and last sequence."""
        return await self._states.look(self._stream)

    async def message_at(self, sequence: int) -> StoredMessage | None:
        """The message at a position, or None when it is not there."""
        return await self._states.message_at(self._stream, sequence)

    async def read(self, after: int) -> AsyncGenerator[tuple[StoredMessage, ...], None]:
        """Batches of messages in order, beginning behind sequence `after`.

        An empty batch says that nothing came for `fetch_timeout`. Ends only by ReadingEnded: on any error, on a
        reconnect, and when a message was lost on its way. Who leaves it earlier closes it (`contextlib.aclosing`).
        """
        generation = self._connection.generation
        consumer = f"knowgate-reader-{secrets.token_hex(8)}"
        try:
            await self._make(consumer, after + 1)
            async with self._pull(consumer) as pull:
                expected, is_owed = 1, False
                while True:
                    received = await pull.take()
                    if self._connection.generation != generation or not self._connection.is_connected:
                        raise ReadingEnded
                    _require_unbroken(received, expected)
                    expected += len(received)
                    if not received and is_owed:
                        raise ReadingEnded("The consumer holds messages back.")
                    is_owed = not received and await self._is_owed(consumer)
                    yield tuple(_stored(message) for message in received)
        except ReadingEnded:
            raise
        except (NatsError, StoreUnavailable, TimeoutError, OSError) as error:
            raise ReadingEnded from error
        finally:
            await self._drop(consumer)

    def _pull(self, consumer: str) -> Pull:
        return Pull(
            self._connection,
            stream=self._stream,
            consumer=consumer,
            batch_size=self._batch_size,
            patience=self._patience,
        )

    async def _make(self, consumer: str, sequence: int) -> None:
        config = ConsumerConfig(
            name=consumer,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=sequence,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=IDLE_LIFE.total_seconds(),
            mem_storage=True,
            num_replicas=1,
        )
        await self._connection.jetstream.add_consumer(self._stream, config)

    async def _is_owed(self, consumer: str) -> bool:
        """Whether messages wait although nothing came; one that has just been stored comes with the next look."""
        seen = await self._connection.jetstream.consumer_info(self._stream, consumer)
        return bool(seen.num_pending)

    async def _drop(self, consumer: str) -> None:
        """Tidy up as far as the broker lets us; it forgets an idle consumer by itself."""
        if self._connection.is_connected:
            with suppress(NatsError, TimeoutError, OSError):
                async with asyncio.timeout(DROP_TIMEOUT.total_seconds()):
                    await self._connection.jetstream.delete_consumer(self._stream, consumer)


def _require_unbroken(received: list[Msg], expected: int) -> None:
    """The consumer numbers what it sends; a hole is a message that the broker believes delivered."""
    for number, message in enumerate(received, start=expected):
        if message.metadata.sequence.consumer != number:
            raise ReadingEnded


def _stored(message: Msg) -> StoredMessage:
    headers = message.headers or {}
    return StoredMessage(
        sequence=message.metadata.sequence.stream,
        subject=message.subject,
        headers=headers,
        body=message.data,
        message_id=headers.get(MESSAGE_ID),
    )
