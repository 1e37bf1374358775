"""Tells the dispatcher what this worker can do, every two seconds."""

import asyncio
import os
import secrets
import socket

from shared.contracts.catalogue import WorkerSlots
from shared.messaging.announcements import ANNOUNCE_EVERY, announce_slots
from shared.messaging.connection import Connection


def new_worker_id() -> str:
    """A name for this process: readable, and never used again."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


async def announce(connection: Connection, slots: WorkerSlots) -> None:
    """Announce until cancelled."""
    while True:
        await announce_slots(connection, slots)
        await asyncio.sleep(ANNOUNCE_EVERY.total_seconds())
