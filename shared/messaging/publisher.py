"""Publishing into a stream with the broker's acknowledgement: one message, or many in a bounded window.

A message that got no answer is sent once more under the same message id, which the broker knows again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import orjson
from nats.aio.client import NO_RESPONDERS_STATUS
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import Header

from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import MESSAGE_ID, Message
from shared.messaging.connection import Connection
from shared.messaging.errors import StreamFull
from shared.messaging.settings import MessagingSettings
from shared.messaging.stream_state import StreamStates

FULL = frozenset({10077, 10047, 10023})
"""The server's error codes for a stream at its limit, an account at its limit, and a store without room."""
WINDOW = 256
"""Publications that wait for their acknowledgement at once."""
REORDERED = 4 * WINDOW
"""Answers to tasks that publish at once may be looked at in another order than they were given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acked:
    """The broker has stored the message."""

    stream: str
    stream_created: str
    """Which stream: one that was deleted and declared again has another value."""
    sequence: int
    is_duplicate: bool
    """A message with this id was there already; `sequence` is its, and it may be long gone."""


Answer = Acked | StoreUnavailable


class Publisher:
    """Publishes on one connection. Safe for many tasks at once."""

    def __init__(self, connection: Connection, settings: MessagingSettings) -> None:
        self._connection = connection
        self._timeout = settings.publish_timeout
        self._states = StreamStates(connection)
        self._streams: dict[str, _Known] = {}

    async def publish(self, subject: str, body: bytes, headers: Mapping[str, str], msg_id: str) -> Acked:
        """Publish one message and wait for its acknowledgement; see `send`."""
        return await self.send(Message(subject=subject, body=body, headers=dict(headers), message_id=msg_id))

    async def send(self, message: Message) -> Acked:
        """Publish one message and wait for its acknowledgement.

        Raises StreamFull when the stream takes nothing more, StoreUnavailable when no acknowledgement came: the
        message may then be stored or not, so publish it again only under the same id.
        """
        (answer,) = await self._window([message])
        if isinstance(answer, StoreUnavailable):
            raise answer
        return answer

    async def hint(self, message: Message) -> None:
        """Publish a message that may be lost, without waiting; it keeps its place before what is sent after it."""
        if self._connection.is_connected:
            with suppress(NatsError, OSError):
                await self._connection.client.publish(message.subject, message.body, headers=_headers(message))

    async def publish_many(self, messages: Sequence[Message]) -> tuple[Answer, ...]:
        """Publish many messages in order, a window at a time; for each its acknowledgement or why there is none."""
        answers: list[Answer] = []
        for start in range(0, len(messages), WINDOW):
            answers += await self._window(messages[start : start + WINDOW])
        return tuple(answers)

    async def _window(self, messages: Sequence[Message]) -> list[Answer]:
        """All of them at once, and once more those that got no answer, when the broker is (back) there."""
        if not self._connection.is_connected:
            return [StoreUnavailable("The broker is not reachable.") for _ in messages]
        answers = await self._together(messages)
        open_places = [place for place, answer in enumerate(answers) if _is_open(answer)]
        if open_places and await self._is_back():
            repeated = await self._together([messages[place] for place in open_places])
            for place, answer in zip(open_places, repeated, strict=True):
                answers[place] = answer
        return answers

    async def _is_back(self) -> bool:
        try:
            await self._connection.wait_connected(self._timeout)
        except StoreUnavailable:
            return False
        return True

    async def _together(self, messages: Sequence[Message]) -> list[Answer]:
        """Send all, then wait for all; nothing is left waiting afterwards."""
        ask = self._connection.inbox.ask
        futures: list[asyncio.Future[Msg]] = []
        try:
            async with self._connection.line.answer_within(self._timeout):
                for message in messages:
                    futures.append(await ask(message.subject, message.body, _headers(message)))  # noqa: PERF401
                await asyncio.wait(futures)
        except (NatsError, TimeoutError, OSError):
            for future in futures:
                future.cancel()
        return [await self._answer(future) for future in futures] + [_silence() for _ in messages[len(futures) :]]

    async def _answer(self, future: asyncio.Future[Msg]) -> Answer:
        if future.cancelled():
            return _silence()
        try:
            return await self._acked(future.result())
        except StoreUnavailable as error:
            return error

    async def _acked(self, answer: Msg) -> Acked:
        if answer.headers and answer.headers.get(Header.STATUS) == NO_RESPONDERS_STATUS:
            raise StoreUnavailable("No stream takes the message.")
        ack = orjson.loads(answer.data)
        if "error" in ack:
            raise _refusal(ack["error"].get("err_code"))
        is_duplicate = bool(ack.get("duplicate"))
        return Acked(
            stream=ack["stream"],
            stream_created=await self._identity(ack["stream"], ack["seq"], is_duplicate=is_duplicate),
            sequence=ack["seq"],
            is_duplicate=is_duplicate,
        )

    async def _identity(self, stream: str, sequence: int, *, is_duplicate: bool) -> str:
        """Asked anew after every reconnect, and when sequences run backwards: then it may be another stream."""
        known, generation = self._streams.get(stream), self._connection.generation
        runs_back = known is not None and sequence < known.highest - REORDERED and not is_duplicate
        if known is None or known.generation != generation or runs_back:
            created = (await self._states.look(stream)).created
            known = self._streams[stream] = _Known(created=created, generation=generation)
        known.highest = max(known.highest, sequence)
        return known.created


@dataclass(slots=True, kw_only=True)
class _Known:
    """Which stream answered last, and how far it was."""

    created: str
    generation: int
    highest: int = 0


def _headers(message: Message) -> dict[str, str]:
    return {**message.headers, MESSAGE_ID: message.message_id}


def _refusal(code: int | None) -> StoreUnavailable:
    if code in FULL:
        return StreamFull(retry_after=timedelta(seconds=1))
    return StoreUnavailable(f"The broker did not take the message: error {code}.")


def _is_open(answer: Answer) -> bool:
    return isinstance(answer, StoreUnavailable) and not isinstance(answer, StreamFull)


def _silence() -> StoreUnavailable:
    return StoreUnavailable("The broker did not acknowledge the message.")
