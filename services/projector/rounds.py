"""Runs something again and again: when it is woken, and at least every so often."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import structlog

from shared.database.errors import LeaseLost
from shared.domain.errors import Rejected, Transient

log = structlog.get_logger()


async def repeat(
    name: str, work: Callable[[], Awaitable[object]], *, every: timedelta, wake: asyncio.Event | None = None
) -> None:
    """Repeat `work` until cancelled or LeaseLost. What is away for a while is tried again at the next turn.

    So is what somebody has to put right, and what fails by a bug of ours: everything else goes on meanwhile.
    """
    while True:
        if wake is not None:
            wake.clear()
        try:
            await work()
        except LeaseLost:
            raise
        except Transient as error:
            log.warning("projector.round.failed", round=name, error=error.message)
        except Rejected as error:
            log.error("projector.round.refused", round=name, error=error.message)
        except Exception:
            log.exception("projector.round.crashed", round=name)
        heed_cancel()
        await _pause(every, wake)


def heed_cancel() -> None:
    """Raise the cancellation that something on the way swallowed: a library that catches it, a task group that ends."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _pause(every: timedelta, wake: asyncio.Event | None) -> None:
    if wake is None:
        await asyncio.sleep(every.total_seconds())
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(every.total_seconds()):
            await wake.wait()
