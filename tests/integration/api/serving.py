"""The api behind a socket, as the product serves it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from tests.integration.api.harness import Gateway
from tests.support.eventually import until


@asynccontextmanager
async def served(gateway: Gateway) -> AsyncIterator[str]:
    """The api at a real address, which is yielded."""
    config = uvicorn.Config(
        gateway.app, port=0, http="httptools", ws="none", lifespan="off", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving
