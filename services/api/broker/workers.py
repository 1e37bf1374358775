"""What this process knows of the workers, as far as their announcements reach it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from shared.contracts.enums import Step
from shared.domain.errors import StoreUnavailable
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


def worker_checks(slots: SlotBoard) -> Mapping[str, Callable[[], Awaitable[object]]]:
    """What has to be heard of the workers for this process to be ready: any at all, and for every step one."""

    async def workers_are_heard() -> None:
        if slots.workers == 0:
            raise StoreUnavailable("No worker has announced itself.")

    async def step_is_taken(step: Step) -> None:
        if slots.slots().get(step, 0) == 0:
            raise StoreUnavailable(f"No live worker takes the step {step.value}.")

    return {
        "workers": workers_are_heard,
        **{f"workers.{step.value}": partial(step_is_taken, step) for step in Step},
    }
