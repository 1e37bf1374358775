"""Tells the others what this worker can do and what it has in hand, every two seconds."""

import asyncio
import os
import secrets
import socket

from services.worker.hands import Hands
from shared.contracts.catalogue import WorkerHands, WorkerSlots
from shared.messaging.announcements import ANNOUNCE_EVERY, announce_hands, announce_slots
from shared.messaging.connection import Connection


def new_worker_id() -> str:
    """A name for this process: readable, and never used again."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


async def announce(connection: Connection, slots: WorkerSlots, hands: Hands) -> None:
    """Announce until cancelled."""
    while True:
        await announce_slots(connection, slots)
        await announce_hands(connection, WorkerHands(worker_id=slots.worker_id, commands=hands.commands()))
        await asyncio.sleep(ANNOUNCE_EVERY.total_seconds())
