"""One connection of a client: it neither waits for ever for the headers of a request nor takes endless ones.

The server's own limits begin after its first answer, and nobody is known before headers have come.
"""

import asyncio
from datetime import timedelta
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEADERS: Final = 64 * 1024
"""Bytes that may come after the piece in which a request begins before its headers are over."""


class Connection(HttpToolsProtocol):
    """HTTP/1.1 as the server speaks it, with a bound on headers."""

    headers_within: ClassVar[timedelta] = timedelta(seconds=10)
    """From the opening of the connection, or the first byte of a later request, to the end of its headers."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._have_headers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece; one that leaves headers unfinished counts."""
        was_waiting = self._deadline
        super().data_received(data)
        if self._deadline is None or self._deadline is not was_waiting:
            return
        self._bytes += len(data)
        if self._bytes > LONGEST_HEADERS and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def on_message_begin(self) -> None:
        """The first byte of a request has come."""
        super().on_message_begin()
        if self._deadline is None:
            self._wait_for_headers()

    def on_headers_complete(self) -> None:
        """A request begins to be answered."""
        self._have_headers()
        super().on_headers_complete()

    def _wait_for_headers(self) -> None:
        self._bytes = 0
        self._deadline = self.loop.call_later(self.headers_within.total_seconds(), self._give_up)

    def _have_headers(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
