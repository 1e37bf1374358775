"""Each 202 ends in exactly one terminal state and never leaves it; nothing was done that nobody was promised."""

from collections import defaultdict
from collections.abc import Iterator

from tests.chaos.oracle.world import ENDS, World

UNPROMISED = frozenset({"SPACE_CREATE"})
"""Its answer names the space and no operation."""


def not_ended_once(world: World) -> Iterator[str]:
    """See the module."""
    yield from lost(world)
    yield from duplicated(world)
    yield from (f"no answer came to the end: {request}" for request in world.unanswered)
    for operation in world.operations.values():
        if operation.status not in ENDS:
            yield f"operation {operation.id} ({operation.type}) of {operation.tenant} is still {operation.status}"
        elif operation.has_commands:
            yield f"operation {operation.id} is {operation.status} and has a command that is current or due"
    yield from _left_by_audit(world)
    yield from _left_by_looks(world)
    yield from _left_by_events(world)


def lost(world: World) -> Iterator[str]:
    """Promises that nothing is known of any more."""
    for accepted in world.accepted:
        operation = world.operations.get(accepted.operation_id)
        if operation is None or operation.tenant != accepted.tenant:
            yield f"operation {accepted.operation_id} of {accepted.tenant} was accepted and is not there"


def duplicated(world: World) -> Iterator[str]:
    """Work that nobody was promised, that one key was promised twice, or that was promised to two keys."""
    promised = {accepted.operation_id for accepted in world.accepted}
    for operation in world.operations.values():
        if operation.id not in promised and operation.type not in UNPROMISED:
            yield f"operation {operation.id} ({operation.type}) of {operation.tenant} was promised to nobody"
    by_key: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for accepted in world.accepted:
        by_key[accepted.tenant, accepted.key].add(accepted.operation_id)
        keys[accepted.operation_id].add(accepted.key)
    for (tenant, key), operations in by_key.items():
        if len(operations) > 1:
            yield f"the key {key} of {tenant} was answered with {sorted(operations)}"
    for operation_id, several in keys.items():
        if len(several) > 1:
            yield f"the keys {sorted(several)} were all answered with operation {operation_id}"


def _left_by_audit(world: World) -> Iterator[str]:
    ended: defaultdict[str, list[str]] = defaultdict(list)
    for transition in world.transitions:
        if transition.resource_type != "OPERATION" or transition.before == transition.after:
            continue
        if transition.before in ENDS:
            yield f"operation {transition.resource_id} went from {transition.before} to {transition.after}"
        if transition.after in ENDS:
            ended[transition.resource_id].append(transition.after)
    for operation in world.operations.values():
        if operation.status in ENDS and ended[operation.id] != [operation.status]:
            yield f"operation {operation.id} is {operation.status}; by the audit it ended as {ended[operation.id]}"


def _left_by_looks(world: World) -> Iterator[str]:
    ended: dict[str, str] = {}
    for look in world.looks:
        was = ended.get(look.operation_id)
        if was is not None and look.status != was:
            yield f"operation {look.operation_id} was polled as {was} and later as {look.status}"
        elif look.status in ENDS:
            ended[look.operation_id] = look.status
    for operation_id, status in ended.items():
        operation = world.operations.get(operation_id)
        if operation is not None and operation.status in ENDS and operation.status != status:
            yield f"operation {operation_id} is {operation.status} and was polled as {status}"


def _left_by_events(world: World) -> Iterator[str]:
    last: dict[str, int] = {}
    ended: defaultdict[str, list[str]] = defaultdict(list)
    for event in world.told:
        if event.seq <= last.get(event.tenant, 0):
            yield f"{event.tenant} was told event {event.seq} after event {last[event.tenant]}"
        last[event.tenant] = event.seq
        told_of = world.operations.get(event.resource_id)
        if told_of is not None and told_of.tenant != event.tenant:
            yield f"{event.tenant} was told of operation {told_of.id}, which is {told_of.tenant}'s"
        if ended[event.resource_id]:
            yield f"the event stream told {event.resource_id} {event.after} after {ended[event.resource_id]}"
        if event.after in ENDS:
            ended[event.resource_id].append(event.after)
    for accepted in world.accepted:
        operation = world.operations.get(accepted.operation_id)
        if operation is not None and operation.status in ENDS and ended[operation.id] != [operation.status]:
            yield f"operation {operation.id} is {operation.status}; its events told {ended[operation.id]}"
