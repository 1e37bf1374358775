"""What processes tell each other on core subjects: free hands of workers, room left in the command stream.

Announcements may be lost; each replaces the one before, and one that is not renewed expires.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import TypeVar

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from pydantic import ValidationError

from shared.contracts.catalogue import ROOM_SUBJECT, SLOTS_SUBJECT, DispatchRoom, WorkerSlots
from shared.contracts.enums import Step
from shared.contracts.wire import Wire
from shared.messaging.connection import Connection

log = structlog.get_logger()

ANNOUNCE_EVERY = timedelta(seconds=2)
EXPIRES_AFTER = 3 * ANNOUNCE_EVERY
"""Two announcements may be lost without harm."""

W = TypeVar("W", bound=Wire)
Monotonic = Callable[[], float]


async def announce_slots(connection: Connection, slots: WorkerSlots) -> None:
    """Tell how many commands of each step a worker takes at once."""
    if connection.is_connected:
        await connection.client.publish(SLOTS_SUBJECT, slots.to_json())


async def announce_room(connection: Connection, room: DispatchRoom) -> None:
    """Tell how many more commands of each step the stream may take."""
    if connection.is_connected:
        await connection.client.publish(ROOM_SUBJECT, room.to_json())


async def listen_for_slots(connection: Connection, hear: Callable[[WorkerSlots], None]) -> Subscription:
    """Call `hear` with every announcement of slots from now on."""
    return await _listen(connection, SLOTS_SUBJECT, WorkerSlots, hear)


async def listen_for_room(connection: Connection, hear: Callable[[DispatchRoom], None]) -> Subscription:
    """Call `hear` with every announcement of room from now on."""
    return await _listen(connection, ROOM_SUBJECT, DispatchRoom, hear)


async def _listen(connection: Connection, subject: str, model: type[W], hear: Callable[[W], None]) -> Subscription:
    return await connection.client.subscribe(subject, cb=partial(_heard, model, hear))


async def _heard(model: type[W], hear: Callable[[W], None], message: Msg) -> None:
    """A body that cannot be read comes from another release: it counts as not heard."""
    try:
        announced = model.model_validate_json(message.data)
    except ValidationError:
        log.warning("messaging.announcement.unreadable", subject=message.subject)
        return
    hear(announced)


class SlotBoard:
    """The workers that were heard lately, and their slots."""

    def __init__(self, *, monotonic: Monotonic = time.monotonic) -> None:
        self._monotonic = monotonic
        self._heard: dict[str, tuple[float, Mapping[Step, int]]] = {}

    def hear(self, announced: WorkerSlots) -> None:
        """Take note of an announcement."""
        self._heard[announced.worker_id] = (self._monotonic(), announced.slots)

    def slots(self) -> Mapping[Step, int]:
        """How many commands of each step all live workers together take at once."""
        totals: Counter[Step] = Counter()
        for _, slots in self._live().values():
            totals.update(slots)
        return totals

    @property
    def workers(self) -> int:
        """How many workers are alive."""
        return len(self._live())

    def _live(self) -> Mapping[str, tuple[float, Mapping[Step, int]]]:
        oldest = self._monotonic() - EXPIRES_AFTER.total_seconds()
        self._heard = {worker: heard for worker, heard in self._heard.items() if heard[0] >= oldest}
        return self._heard
