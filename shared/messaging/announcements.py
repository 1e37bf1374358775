"""What processes tell each other on core subjects: free hands of workers, what they have in hand, room left in the
command stream.

Announcements may be lost; each replaces the one before, and one that is not renewed expires.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Generic, TypeVar

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from pydantic import ValidationError

from shared.contracts.catalogue import (
    HANDS_SUBJECT,
    ROOM_SUBJECT,
    SLOTS_SUBJECT,
    DispatchRoom,
    WorkerHands,
    WorkerSlots,
)
from shared.contracts.enums import Step
from shared.contracts.wire import Wire
from shared.domain.unfinished import LiveWorkers
from shared.messaging.connection import Connection

log = structlog.get_logger()

ANNOUNCE_EVERY = timedelta(seconds=2)
EXPIRES_AFTER = 3 * ANNOUNCE_EVERY
"""Two announcements may be lost without harm."""

W = TypeVar("W", bound=Wire)
Said = TypeVar("Said")
Monotonic = Callable[[], float]


async def announce_slots(connection: Connection, slots: WorkerSlots) -> None:
    """Tell how many commands of each step a worker takes at once."""
    if connection.is_connected:
        await connection.client.publish(SLOTS_SUBJECT, slots.to_json())


async def announce_hands(connection: Connection, hands: WorkerHands) -> None:
    """Tell which commands a worker has in hand; none is worth telling as well."""
    if connection.is_connected:
        await connection.client.publish(HANDS_SUBJECT, hands.to_json())


async def announce_room(connection: Connection, room: DispatchRoom) -> None:
    """Tell how many more commands of each step the stream may take."""
    if connection.is_connected:
        await connection.client.publish(ROOM_SUBJECT, room.to_json())


async def listen_for_slots(connection: Connection, hear: Callable[[WorkerSlots], None]) -> Subscription:
    """Call `hear` with every announcement of slots from now on."""
    return await _listen(connection, SLOTS_SUBJECT, WorkerSlots, hear)


async def listen_for_hands(connection: Connection, hear: Callable[[WorkerHands], None]) -> Subscription:
    """Call `hear` with every announcement of what workers have in hand from now on."""
    return await _listen(connection, HANDS_SUBJECT, WorkerHands, hear)


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


class _Lately(Generic[Said]):
    """What each worker said last, unless that was too long ago."""

    def __init__(self, monotonic: Monotonic) -> None:
        self._monotonic = monotonic
        self._heard: dict[str, tuple[float, Said]] = {}

    def hear(self, worker_id: str, said: Said) -> None:
        self._heard[worker_id] = (self._monotonic(), said)

    def live(self) -> Mapping[str, Said]:
        oldest = self._monotonic() - EXPIRES_AFTER.total_seconds()
        self._heard = {worker: heard for worker, heard in self._heard.items() if heard[0] >= oldest}
        return {worker: said for worker, (_, said) in self._heard.items()}


class SlotBoard:
    """The workers that were heard lately, and their slots."""

    def __init__(self, *, monotonic: Monotonic = time.monotonic) -> None:
        self._lately: _Lately[Mapping[Step, int]] = _Lately(monotonic)

    def hear(self, announced: WorkerSlots) -> None:
        """Take note of an announcement."""
        self._lately.hear(announced.worker_id, announced.slots)

    def slots(self) -> Mapping[Step, int]:
        """How many commands of each step all live workers together take at once."""
        totals: Counter[Step] = Counter()
        for slots in self._lately.live().values():
            totals.update(slots)
        return totals

    @property
    def workers(self) -> int:
        """How many workers are alive."""
        return len(self._lately.live())

    @property
    def worker_ids(self) -> frozenset[str]:
        """Which workers are alive."""
        return frozenset(self._lately.live())


class HandBoard:
    """The workers that were heard lately, and what they have in hand."""

    def __init__(self, *, monotonic: Monotonic = time.monotonic) -> None:
        self._lately: _Lately[tuple[str, ...]] = _Lately(monotonic)

    def hear(self, announced: WorkerHands) -> None:
        """Take note of an announcement."""
        self._lately.hear(announced.worker_id, announced.commands)

    def hands(self) -> Mapping[str, str]:
        """By the id of each command that is in hand, a live worker that has it."""
        return {command: worker for worker, commands in self._lately.live().items() for command in commands}

    @property
    def worker_ids(self) -> frozenset[str]:
        """Which workers say what they have in hand; those of an older release do not."""
        return frozenset(self._lately.live())


def live_workers(slots: SlotBoard, hands: HandBoard, connected_for: timedelta) -> LiveWorkers:
    """What is known of the workers. `connected_for`: how long announcements have reached this process by now."""
    return LiveWorkers(
        is_known=connected_for > EXPIRES_AFTER,
        slots=slots.slots(),
        hands=hands.hands(),
        is_complete=slots.worker_ids <= hands.worker_ids,
    )
