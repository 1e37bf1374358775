"""Callers that wait for ends: polls of all that was accepted, also of what has ended, and the stream of events."""

from contextlib import aclosing
from typing import Final

import anyio

from shared.client.errors import BrokenAnswer, Refused
from shared.contracts.enums import OperationStatus, ResourceType
from shared.contracts.ids import OperationId
from shared.domain.errors import Rejected, Transient
from shared.domain.operation import OPERATION_END
from tests.chaos.oracle.world import Look, ToldEvent
from tests.chaos.tenants import Tenant

BETWEEN: Final = 0.3
"""Seconds between two rounds over all that runs."""
LOOKED_AT_AGAIN: Final = 3
"""Ended operations, in each round."""
BETWEEN_FAILURES: Final = 0.5


async def poll(tenant: Tenant) -> None:
    """Look at everything that runs again and again, and at some of what has ended; until cancelled."""
    while True:
        again = tenant.dice.sample(tenant.ended, min(LOOKED_AT_AGAIN, len(tenant.ended)))
        for operation_id in (*tenant.running, *again):
            try:
                await _look(tenant, operation_id)
            except Transient:
                await anyio.sleep(BETWEEN_FAILURES)
            except (Refused, BrokenAnswer) as error:
                tenant.ledger.strange[f"poll of {operation_id}: {error}"] += 1
        await anyio.sleep(BETWEEN)


async def _look(tenant: Tenant, operation_id: OperationId) -> None:
    operation = await tenant.asking.get_operation(operation_id)
    tenant.ledger.looks.append(Look(operation_id=operation_id, status=operation.status.value))
    if operation.status not in OPERATION_END or operation_id not in tenant.running:
        return
    document_id = tenant.running.pop(operation_id)
    tenant.ended.append(operation_id)
    page = None if document_id is None else tenant.pages.get(document_id)
    if page is not None and operation.status is OperationStatus.SUCCEEDED:
        page.is_served = True
    if operation.status is OperationStatus.FAILED and operation.retryable:
        tenant.failed.append(operation_id)


async def follow(tenant: Tenant) -> None:
    """Follow the tenant's events from the first one on; until cancelled."""
    while True:
        try:
            async with aclosing(tenant.events.follow(after=tenant.last_seq)) as events:
                async for event in events:
                    tenant.last_seq = event.seq
                    if event.resource_type is ResourceType.OPERATION and event.before != event.after:
                        told = ToldEvent(
                            tenant=tenant.name, seq=event.seq, resource_id=event.resource_id, after=event.after
                        )
                        tenant.ledger.told.append(told)
        except Rejected as error:
            tenant.ledger.strange[f"events: {error}"] += 1
            await anyio.sleep(BETWEEN_FAILURES)
