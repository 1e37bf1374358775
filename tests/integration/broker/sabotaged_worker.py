"""A worker as it is really run, until SIGUSR1: then it breaks in the way that SABOTAGE names."""

import asyncio
import os
import signal
import time

from nats.aio.msg import Msg

from services.worker import main
from shared.messaging.slot_pull import SlotPull
from shared.telemetry.logging import configure_logging


def freeze() -> None:
    """Block the event loop, as code that ought to run elsewhere would."""
    time.sleep(600)


def fall_silent() -> None:
    """Ask for nothing more, and notice nothing of it."""

    async def wait_for_ever(self: SlotPull, batch: int = 1, **_: object) -> list[Msg]:
        await asyncio.Event().wait()
        return []

    SlotPull.fetch = wait_for_ever  # type: ignore[method-assign, assignment]


WAYS = {"freeze": freeze, "silence": fall_silent}


async def serve(settings: main.Settings) -> None:
    """Serve, and listen for the signal."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, WAYS[os.environ["SABOTAGE"]])
    await main.serve(settings)


if __name__ == "__main__":
    settings = main.Settings()
    configure_logging(settings.telemetry, service=main.SERVICE)
    asyncio.run(serve(settings))
