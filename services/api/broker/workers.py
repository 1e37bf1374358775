"""What this process knows of the workers, as far as their announcements reach it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from shared.domain.unfinished import LiveWorkers
from shared.messaging.announcements import EXPIRES_AFTER, HandBoard, SlotBoard, live_workers
from shared.messaging.settings import MessagingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLook:
    """Looks at the workers."""

    workers: Callable[[], LiveWorkers]
    patience: timedelta
    """How long the broker takes to hand a command on whose worker is gone."""


def worker_look(
    slots: SlotBoard, hands: HandBoard, connected_for: Callable[[], timedelta], settings: MessagingSettings
) -> WorkerLook:
    """What is heard on a connection. The new worker of a command may be heard of somewhat after it has it."""
    return WorkerLook(
        workers=lambda: live_workers(slots, hands, connected_for()), patience=settings.ack_wait + EXPIRES_AFTER
    )
