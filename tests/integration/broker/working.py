"""Work for a gateway in this process: it is accepted at once, and ends when everybody does their part."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from shared.contracts.ids import OperationId
from tests.integration.projector.conftest import Stage

ENDS_WITHIN = timedelta(seconds=60)


async def accept(stage: Stage, number: int, *, space: str = "manuals") -> list[OperationId]:
    """So many documents, accepted into a space that is made with them and ACTIVE by then."""
    accepted = await stage.bench.create_space(space)
    assert await endings(stage, [accepted.work.operation.id]) == ["SUCCEEDED"]
    space_id = accepted.work.space.id
    return [(await stage.bench.upload(space_id, f"{n}")).work.operation.id for n in range(number)]


async def endings(stage: Stage, operation_ids: Sequence[OperationId]) -> list[str]:
    """Wait until all have ended; their statuses."""
    async with asyncio.timeout(ENDS_WITHIN.total_seconds()):
        while True:
            operations = [await stage.bench.operation(operation_id) for operation_id in operation_ids]
            if all(operation.is_over for operation in operations):
                return [operation.status.value for operation in operations]
            await asyncio.sleep(0.05)


async def retries(stage: Stage, operation_ids: Sequence[OperationId]) -> int:
    """How many automatic retries they took together."""
    return sum([(await stage.bench.operation(operation_id)).retry_count for operation_id in operation_ids])
