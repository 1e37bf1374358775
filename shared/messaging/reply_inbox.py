"""Where answers to what a connection sends come in: one subscription, one future for each question.

Whoever asks itself learns that the broker has taken everything before. The client's own `publish_async` never resolves
its future when the broker answers with an error, and its `request` costs twice as much.
"""

import asyncio
from collections.abc import Mapping
from itertools import count

from nats.aio.client import Client
from nats.aio.msg import Msg


class ReplyInbox:
    """Sends messages and resolves a future for each when it is answered."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._prefix = client.new_inbox()
        self._numbers = count(1)
        self._waiting: dict[str, asyncio.Future[Msg]] = {}
        self._is_listening = False

    async def ask(
        self, subject: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> asyncio.Future[Msg]:
        """Hand a message to the client, and get what will be its answer. Whoever stops waiting cancels it."""
        reply, future = await self._expect()
        try:
            await self._client.publish(subject, body, reply, None if headers is None else dict(headers))
        except BaseException:
            future.cancel()
            raise
        return future

    async def ask_ourselves(self) -> asyncio.Future[Msg]:
        """Ask what the broker answers by itself, after everything that was sent before. See `ask`."""
        reply, future = await self._expect()
        try:
            await self._client.publish(reply)
        except BaseException:
            future.cancel()
            raise
        return future

    async def _expect(self) -> tuple[str, asyncio.Future[Msg]]:
        if not self._is_listening:
            self._is_listening = True
            await self._client.subscribe(f"{self._prefix}.*", cb=self._answered)
        token = str(next(self._numbers))
        future: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        future.add_done_callback(lambda _: self._waiting.pop(token, None))
        return f"{self._prefix}.{token}", future

    async def _answered(self, message: Msg) -> None:
        future = self._waiting.get(message.subject.rpartition(".")[2])
        if future is not None and not future.done():
            future.set_result(message)
