"""Reads the beginning of an answer that does not end by itself."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message

PATIENCE = 10.0
"""Seconds."""


@dataclass(slots=True)
class Beginning:
    """What has come of an answer until its reader had enough."""

    status: int = 0
    content: bytearray = field(default_factory=bytearray)


async def begin(app: ASGIApp, path: str, headers: Mapping[str, str], *, until: bytes) -> Beginning:
    """Get `path` and hang up as soon as `until` has come."""
    beginning, enough = Beginning(), asyncio.Event()
    asked = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Message:
        for message in asked:
            return message
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            beginning.status = message["status"]
            return
        beginning.content += message.get("body", b"")
        if until in beginning.content or not message.get("more_body", False):
            enough.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("gateway", 80),
    }
    async with asyncio.timeout(PATIENCE):
        await app(scope, receive, send)
    return beginning
