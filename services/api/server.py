"""The HTTP server: fast loop and parser, no log line a request, a graceful stop that is awaited."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from services.api.connection import Connection
from services.api.settings import ApiSettings

STOPPED_BY: Final = (signal.SIGTERM, signal.SIGINT)


class ServerDidNotStart(Exception):
    """The address could not be listened on; the server has logged why."""


class _Server(uvicorn.Server):
    """Says when it begins to stop: requests that wait for something would otherwise hold it up."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new requests, and wait for those under way."""
        self._on_stop()
        await super().shutdown(sockets)


async def serve_http(app: ASGIApp, settings: ApiSettings, *, on_stop: Callable[[], None]) -> None:
    """Serve until a signal comes, and then until requests under way have ended; `on_stop` is called in between."""
    # The server hands the signal on when it is done. Without a handler of ours that would end the process there
    # and then, before what runs beside the requests has ended too.
    loop = asyncio.get_running_loop()
    for number in STOPPED_BY:
        loop.add_signal_handler(number, _already_stopping)
    server = _Server(
        uvicorn.Config(
            app,
            host=settings.api_host,
            port=settings.api_port,
            http=Connection,
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=round(settings.stop_within.total_seconds()),
        ),
        on_stop,
    )
    try:
        await server.serve()
    except SystemExit as error:
        raise ServerDidNotStart from error


def _already_stopping() -> None:
    """The server has heard the signal first."""
