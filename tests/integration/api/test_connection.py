"""Clients that never finish what they have begun are let go of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from services.api.connection import LONGEST_HEADERS, Connection

pytestmark = pytest.mark.anyio

REQUEST = b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n"


class Hasty(Connection):
    headers_within = timedelta(milliseconds=500)


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@asynccontextmanager
async def connected(protocol: type[Connection]) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client of a server that speaks by this protocol."""
    config = uvicorn.Config(hello, lifespan="off", log_config=None, timeout_keep_alive=30)
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            async with asyncio.timeout(20):
                yield reader, writer
        finally:
            writer.close()
            await writer.wait_closed()


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: gat"], ids=["silent", "unfinished"])
async def test_whoever_does_not_finish_the_headers_in_time_is_hung_up_on(begun: bytes) -> None:
    async with connected(Hasty) as (reader, writer):
        writer.write(begun)
        assert await reader.read() == b""


async def test_a_later_request_on_the_connection_has_as_long_as_the_first() -> None:
    async with connected(Hasty) as (reader, writer):
        writer.write(REQUEST)
        assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET / HT")
        assert await reader.read() == b""


async def test_a_quiet_connection_that_was_answered_stays() -> None:
    async with connected(Hasty) as (reader, writer):
        for _ in range(2):
            writer.write(REQUEST)
            await reader.readuntil(b"hello")
            await asyncio.sleep(2 * Hasty.headers_within.total_seconds())
        writer.write(REQUEST)
        assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200 ")


async def test_headers_without_end_are_refused() -> None:
    async with connected(Connection) as (reader, writer):
        begun = b"GET / HTTP/1.1\r\nX-More: "
        writer.write(begun + b"x" * (LONGEST_HEADERS - len(begun) + 1))
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")


async def test_long_headers_and_a_longer_body_are_no_headers_without_end() -> None:
    async with connected(Connection) as (reader, writer):
        size = 3 * LONGEST_HEADERS
        begun = f"POST / HTTP/1.1\r\nContent-Length: {size}\r\nX-More: {'x' * (LONGEST_HEADERS // 2)}\r\n\r\n"
        writer.write(begun.encode() + b"x" * size)
        assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200 ")
