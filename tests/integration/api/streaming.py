"""Requests whose answers take their time: asked of the application itself, read piece by piece, hung up at will."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Scope

PATIENCE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Sent:
    """One block of a stream: an event, or what is told beside events."""

    fields: Mapping[str, str]

    @property
    def told(self) -> dict[str, Any]:
        """The event's data."""
        found: dict[str, Any] = json.loads(self.fields["data"])
        return found

    @property
    def id(self) -> int:
        """The event's place."""
        return int(self.fields["id"])


@dataclass(slots=True)
class Asked:
    """One request under way."""

    messages: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    _rest: str = ""
    _has_asked: bool = False

    async def receive(self) -> Message:
        """An empty body, and later that the caller has hung up."""
        if not self._has_asked:
            self._has_asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def begin(self) -> None:
        """Wait for the answer's head."""
        start = await self._next()
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}

    async def block(self) -> Sent | None:
        """The next block; None when the stream has ended."""
        while "\n\n" not in self._rest:
            message = await self._next()
            self._rest += message["body"].decode()
            if not message.get("more_body"):
                assert not self._rest.strip(), self._rest
                return None
        block, _, self._rest = self._rest.partition("\n\n")
        return Sent(dict(line.split(": ", 1) for line in block.split("\n")))

    async def event(self) -> Sent:
        """The next event, after whatever is told beside events."""
        while True:
            block = await self.block()
            assert block is not None, "the stream has ended"
            if "data" in block.fields:
                return block

    async def body(self) -> bytes:
        """The whole answer."""
        pieces: list[bytes] = []
        while True:
            message = await self._next()
            pieces.append(message["body"])
            if not message.get("more_body"):
                return b"".join(pieces)

    async def body_until(self, mark: bytes) -> bytes:
        """The answer up to the piece with which the mark has come, or to its end."""
        content = bytearray()
        while True:
            message = await self._next()
            content += message["body"]
            if mark in content or not message.get("more_body"):
                return bytes(content)

    def rest(self) -> bytes:
        """What has come since and was not read."""
        pieces: list[bytes] = []
        while not self.messages.empty():
            pieces.append(self.messages.get_nowait()["body"])
        return b"".join(pieces)

    def hang_up(self) -> None:
        """Leave without waiting for the end."""
        self.gone.set()

    async def _next(self) -> Message:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.messages.get()


@asynccontextmanager
async def asked(app: ASGIApp, path: str, headers: Mapping[str, str]) -> AsyncIterator[Asked]:
    """A request under way inside the block; the caller hangs up at its end, and the application is awaited."""
    request = Asked()
    target, _, query = path.partition("?")
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("gateway", 80),
    }
    answering = asyncio.ensure_future(_answer(app, scope, request))
    try:
        yield request
    finally:
        request.hang_up()
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await answering


async def _answer(app: ASGIApp, scope: Scope, request: Asked) -> None:
    await app(scope, request.receive, request.messages.put)
