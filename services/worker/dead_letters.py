"""Keeps a copy of what cannot be worked on, for an operator to look at."""

from services.worker.delivery import Delivery
from services.worker.reporting import Publishes
from shared.messaging.dead_letters import copy_of


async def bury(publisher: Publishes, delivery: Delivery, reason: str) -> None:
    """Copy a message to the dead letters and wait until it is there; StoreUnavailable when it is not."""
    await publisher.send(copy_of(delivery.body, delivery.headers, origin=delivery.origin, reason=reason))
