"""Keeps a copy of what cannot be worked on, for an operator to look at."""

from services.worker.delivery import Delivery
from services.worker.reporting import Publishes
from shared.contracts.catalogue import DEADLETTER_SUBJECT
from shared.messaging.codec import CE_ID, CE_TENANT, CE_TYPE, CONTENT_TYPE, TRACEPARENT, Message

KIND = "command"
REASON = "knowgate-reason"
ORIGIN = "knowgate-origin"
KEPT = (CE_ID, CE_TYPE, CE_TENANT, CONTENT_TYPE, TRACEPARENT)


async def bury(publisher: Publishes, delivery: Delivery, reason: str) -> None:
    """Copy a message to the dead letters and wait until it is there; StoreUnavailable when it is not."""
    headers = {name: value for name, value in delivery.headers.items() if name in KEPT}
    await publisher.send(
        Message(
            subject=DEADLETTER_SUBJECT.format(kind=KIND),
            body=delivery.body,
            headers={**headers, REASON: reason, ORIGIN: delivery.origin},
            message_id=f"deadletter.{headers.get(CE_ID, '')}.{delivery.origin}",
        )
    )
