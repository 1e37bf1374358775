"""What a stream holds: which stream it is, how far it goes, whether a message is still there."""

from dataclasses import dataclass
from datetime import datetime

from nats.errors import Error as NatsError
from nats.js.api import RawStreamMsg
from nats.js.errors import APIError, NotFoundError

from shared.domain.errors import StoreUnavailable
from shared.messaging.connection import Connection

NO_MESSAGE = 10037
SEQUENCE_NOT_FOUND = (10043, 10057)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLook:
    """A stream as it is now."""

    name: str
    created: str
    """Its identity: a stream that was deleted and declared again has another value."""
    first_sequence: int
    last_sequence: int
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One message of a stream."""

    sequence: int
    subject: str
    headers: dict[str, str]
    body: bytes
    message_id: str | None
    stored_at: datetime | None = None
    """By the broker's clock; None when it was not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerProgress:
    """How far a consumer has come in its stream, by the broker's own account."""

    delivered: int
    """The last sequence that it has delivered at least once."""
    settled: int
    """Up to this sequence it has nothing in anybody's hands."""
    in_hand: int
    """Delivered, not settled, and not yet delivered as often as they may be."""

    def has_done_with(self, sequence: int) -> bool:
        """Whether it will never deliver the message with this sequence again, be it in the stream or not.

        `settled` stands still while anything delivered before is in hand, so a message that was delivered as often as
        it may be is surely recognised only in a moment in which nothing is.
        """
        return sequence <= self.settled or (self.in_hand == 0 and sequence <= self.delivered)


class StreamStates:
    """Looks at streams on one connection. Every call raises StoreUnavailable when the broker does not answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def look(self, stream: str) -> StreamLook:
        """The stream's identity and figures."""
        try:
            seen = await self._connection.jetstream.stream_info(stream)
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"The broker did not tell of the stream {stream}.") from error
        if seen.created is None:
            raise StoreUnavailable(f"The broker did not say when the stream {stream} was made.")
        return StreamLook(
            name=stream,
            created=seen.created.isoformat(),
            first_sequence=seen.state.first_seq,
            last_sequence=seen.state.last_seq,
            messages=seen.state.messages,
        )

    async def message_at(self, stream: str, sequence: int) -> StoredMessage | None:
        """The message with this sequence, or None when it is not there (any more)."""
        if sequence < 1:
            return None
        try:
            return stored(await self._connection.jetstream.get_msg(stream, sequence), sequence)
        except NotFoundError as error:
            if error.err_code == NO_MESSAGE:
                return None
            raise StoreUnavailable(f"The stream {stream} is not there.") from error
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"The broker did not tell of a message in {stream}.") from error

    async def last_on(self, stream: str, subject: str) -> StoredMessage | None:
        """The last message on a subject, or None when there is none."""
        try:
            raw = await self._connection.jetstream.get_last_msg(stream, subject)
        except NotFoundError as error:
            if error.err_code == NO_MESSAGE:
                return None
            raise StoreUnavailable(f"The stream {stream} is not there.") from error
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"The broker did not tell of the last message in {stream}.") from error
        return stored(raw, raw.seq or 0)

    async def progress(self, stream: str, consumer: str) -> ConsumerProgress | None:
        """How far a consumer has come, or None when there is no such consumer."""
        try:
            seen = await self._connection.jetstream.consumer_info(stream, consumer)
        except NotFoundError:
            return None
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"The broker did not tell of the consumer {consumer}.") from error
        return ConsumerProgress(
            delivered=seen.delivered.stream_seq if seen.delivered else 0,
            settled=seen.ack_floor.stream_seq if seen.ack_floor else 0,
            in_hand=seen.num_ack_pending or 0,
        )

    async def holds(self, stream: str, sequence: int) -> bool:
        """Whether the message with this sequence is still in the stream."""
        return await self.message_at(stream, sequence) is not None

    async def delete(self, stream: str, sequence: int) -> bool:
        """Remove the message with this sequence; False when it was not there."""
        try:
            return await self._connection.jetstream.delete_msg(stream, sequence)
        except APIError as error:
            if error.err_code in SEQUENCE_NOT_FOUND:
                return False
            raise StoreUnavailable(f"The broker did not delete a message from {stream}.") from error
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"The broker did not delete a message from {stream}.") from error


def stored(raw: RawStreamMsg, sequence: int) -> StoredMessage:
    """The client's form of a stored message as ours."""
    headers = dict(raw.headers or {})
    return StoredMessage(
        sequence=sequence,
        subject=raw.subject or "",
        headers=headers,
        body=raw.data or b"",
        message_id=headers.get("Nats-Msg-Id"),
        stored_at=raw.time,
    )
