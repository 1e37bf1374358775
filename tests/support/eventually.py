"""Waiting in tests for what happens elsewhere."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta


async def until(holds: Callable[[], bool], *, within: timedelta = timedelta(seconds=15)) -> None:
    """Return as soon as it holds; AssertionError when it does not in time."""
    deadline = time.monotonic() + within.total_seconds()
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)
