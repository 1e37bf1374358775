"""Callers who hang up while they are still being answered."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

Outcome = TypeVar("Outcome")


async def unless_gone(work: Coroutine[None, None, Outcome], receive: Receive) -> Outcome:
    """What the work comes to; ClientDisconnect when the caller hangs up first, and the work is cancelled then.

    What is left of the request's body is thrown away.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_hung_up(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
