"""The HTTP server: fast loop and parser, no log line a request, a graceful stop that is awaited."""

import asyncio
import signal
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from services.api.settings import ApiSettings

STOPPED_BY: Final = (signal.SIGTERM, signal.SIGINT)


class ServerDidNotStart(Exception):
    """The address could not be listened on; the server has logged why."""


async def serve_http(app: ASGIApp, settings: ApiSettings) -> None:
    """Serve until a signal comes, and then until requests under way have ended."""
    # The server hands the signal on when it is done. Without a handler of ours that would end the process there
    # and then, before what runs beside the requests has ended too.
    loop = asyncio.get_running_loop()
    for number in STOPPED_BY:
        loop.add_signal_handler(number, _already_stopping)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.api_host,
            port=settings.api_port,
            http="httptools",
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=round(settings.stop_within.total_seconds()),
        )
    )
    try:
        await server.serve()
    except SystemExit as error:
        raise ServerDidNotStart from error


def _already_stopping() -> None:
    """The server has heard the signal first."""
