"""A pull from one consumer, with one request out at a time, however long it takes to be answered.

The client's own `fetch` sends another request while the last one may still be answered: after a broker was slow or away
for a while, what all of them bring waits in the client with its clock running. It also waits with a timer for each
message, which makes it the narrowest place of a reader.
"""

import asyncio
import json
from collections import deque
from datetime import timedelta
from typing import Self

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import Header, StatusCode

from shared.domain.errors import StoreUnavailable
from shared.messaging.connection import Connection

NEXT_SUBJECT = "$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
ENDED = frozenset({StatusCode.REQUEST_TIMEOUT.value, StatusCode.NO_MESSAGES.value})
"""Ordinary ends of a request: its time was up, with or without messages."""
ANSWER_SLACK = timedelta(seconds=1)
"""How much later than its time a request may end before it counts as lost."""


class Silence(StoreUnavailable):
    """A request was not answered in time. It may still be: the next `take` waits for the same one."""

    message = "The consumer does not answer: silence."


class Pull:
    """Requests `batch_size` messages at a time and hands out what has come."""

    def __init__(
        self,
        connection: Connection,
        *,
        stream: str,
        consumer: str,
        batch_size: int,
        patience: timedelta,
        is_ahead: bool = True,
    ) -> None:
        """`is_ahead`: request the next messages while the reader is busy with the last ones."""
        self._client = connection.client
        self._line = connection.line
        self._subject = NEXT_SUBJECT.format(stream=stream, consumer=consumer)
        self._inbox = self._client.new_inbox()
        self._batch_size = batch_size
        self._patience = patience
        self._is_ahead = is_ahead
        self._subscription: Subscription | None = None
        self._received: deque[Msg] = deque()
        self._change = asyncio.Event()
        self._open = 0
        """Messages of the current request that are still to come."""
        self._failure: str | None = None

    async def __aenter__(self) -> Self:
        """Begin to listen."""
        self._subscription = await self._client.subscribe(self._inbox, cb=self._arrived)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening; what is under way is lost."""
        if self._subscription is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()

    async def take(self) -> list[Msg]:
        """What has come, waiting for the first up to `patience`; empty when nothing came.

        StoreUnavailable when the consumer is gone, Silence when it does not answer.
        """
        if not self._received:
            if self._open <= 0:
                await self._request()
            await self._wait()
        taken = [self._received.popleft() for _ in range(min(self._batch_size, len(self._received)))]
        if self._is_ahead and self._open <= 0 and len(self._received) < self._batch_size and self._failure is None:
            await self._request()
        if not taken and self._failure is not None:
            raise StoreUnavailable(f"The consumer does not answer: {self._failure}.")
        return taken

    async def _wait(self) -> None:
        self._change.clear()
        try:
            async with self._line.answer_within(self._patience + ANSWER_SLACK):
                await self._change.wait()
        except TimeoutError:
            raise Silence from None

    async def _request(self) -> None:
        self._open = self._batch_size
        wish = {"batch": self._batch_size, "expires": int(self._patience.total_seconds() * 1e9)}
        await self._client.publish(self._subject, json.dumps(wish).encode(), self._inbox)

    async def _arrived(self, message: Msg) -> None:
        status = message.headers.get(Header.STATUS) if message.headers else None
        if status is None:
            self._received.append(message)
            self._open -= 1
        else:
            self._open = 0
            if status not in ENDED:
                self._failure = f"{status} {(message.headers or {}).get(Header.DESCRIPTION, '')}".strip()
        self._change.set()
