"""Where a connection's publications are acknowledged: one inbox, one future for each message under way.

The client's own `publish_async` never resolves its future when the broker answers with an error, and its `publish`
costs twice as much.
"""

import asyncio
from datetime import timedelta
from itertools import count
from typing import Any, Final

import orjson
from nats.aio.client import NO_RESPONDERS_STATUS
from nats.aio.msg import Msg
from nats.js.api import Header

from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import MESSAGE_ID, Message
from shared.messaging.connection import Connection
from shared.messaging.errors import StreamFull

FULL: Final = 10077
"""The server's error code for a stream at its limit."""

Ack = dict[str, Any]
"""The broker's answer as it came: `stream`, `seq`, and `duplicate` when it is one."""


class AckInbox:
    """Posts messages and resolves a future for each when the broker answers."""

    def __init__(self, connection: Connection) -> None:
        self._client = connection.client
        self._prefix = self._client.new_inbox()
        self._numbers = count(1)
        self._waiting: dict[str, asyncio.Future[Ack]] = {}
        self._is_listening = False

    async def post(self, message: Message) -> asyncio.Future[Ack]:
        """Hand a message to the client; the future ends in StoreUnavailable when the broker refuses it.

        Whoever stops waiting cancels the future.
        """
        if not self._is_listening:
            self._is_listening = True
            await self._client.subscribe(f"{self._prefix}.*", cb=self._answered)
        token = str(next(self._numbers))
        future: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        future.add_done_callback(lambda _: self._waiting.pop(token, None))
        try:
            headers = {**message.headers, MESSAGE_ID: message.message_id}
            await self._client.publish(message.subject, message.body, f"{self._prefix}.{token}", headers)
        except BaseException:
            future.cancel()
            raise
        return future

    async def _answered(self, message: Msg) -> None:
        future = self._waiting.get(message.subject.rpartition(".")[2])
        if future is None or future.done():
            return
        if message.headers and message.headers.get(Header.STATUS) == NO_RESPONDERS_STATUS:
            future.set_exception(StoreUnavailable("No stream takes the message."))
            return
        answer: Ack = orjson.loads(message.data)
        if "error" in answer:
            future.set_exception(_refusal(answer["error"]))
        else:
            future.set_result(answer)


def _refusal(error: dict[str, Any]) -> StoreUnavailable:
    if error.get("err_code") == FULL:
        return StreamFull(retry_after=timedelta(seconds=1))
    return StoreUnavailable(f"The broker did not take the message: error {error.get('err_code')}.")
