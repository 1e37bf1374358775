"""At most five automatic retries of an operation and three manual ones of a root; whatever was tried was counted."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tests.chaos.oracle.world import Operation, World

AUTOMATIC: Final = 5
MANUAL: Final = 3


def too_many_retries(world: World) -> Iterator[str]:
    """See the module."""
    for operation in world.operations.values():
        if not 0 <= operation.retry_count <= AUTOMATIC:
            yield f"operation {operation.id} was retried {operation.retry_count} times"
        attempts = world.attempts.get(operation.id, 0)
        if attempts > operation.retry_count + 1:
            yield f"operation {operation.id} was tried {attempts} times and counts {operation.retry_count} retries"
    yield from _manual(world)


def _manual(world: World) -> Iterator[str]:
    children: defaultdict[str, list[Operation]] = defaultdict(list)
    for operation in world.operations.values():
        if operation.parent_id is not None:
            children[operation.root_id].append(operation)
        elif operation.root_id != operation.id or operation.manual_attempt:
            yield f"operation {operation.id}, retry {operation.manual_attempt} of {operation.root_id}, has no parent"
    for root_id, retries in children.items():
        numbers = sorted(retry.manual_attempt for retry in retries)
        if len(retries) > MANUAL or numbers != list(range(1, len(retries) + 1)):
            yield f"operation {root_id} was retried by hand {numbers}"
        known = {root_id, *(retry.id for retry in retries)}
        for retry in retries:
            parent = world.operations.get(retry.parent_id or "")
            if retry.parent_id not in known or parent is None or parent.manual_attempt != retry.manual_attempt - 1:
                yield f"operation {retry.id}, retry {retry.manual_attempt} of {root_id}, follows {retry.parent_id}"
