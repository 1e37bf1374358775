"""From when to when something was so, as the audit tells it by the moments of commits."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from tests.chaos.oracle.world import Transition

FOREVER: Final = datetime.max.replace(tzinfo=UTC)
Interval = tuple[datetime, datetime]


def times_in(transitions: Iterable[Transition], resource_type: str, status: str) -> Mapping[str, Sequence[Interval]]:
    """When each resource of a type was in a status. One that still is, is so for ever."""
    began: dict[str, datetime] = {}
    times: defaultdict[str, list[Interval]] = defaultdict(list)
    for transition in sorted(transitions, key=lambda one: one.at):
        if transition.resource_type != resource_type or transition.before == transition.after:
            continue
        if transition.before == status and transition.resource_id in began:
            times[transition.resource_id].append((began.pop(transition.resource_id), transition.at))
        if transition.after == status:
            began[transition.resource_id] = transition.at
    for resource_id, since in began.items():
        times[resource_id].append((since, FOREVER))
    return times


def common(first: Iterable[Interval], second: Sequence[Interval]) -> list[Interval]:
    """When both were so."""
    return [
        (max(begin, other_begin), min(end, other_end))
        for begin, end in first
        for other_begin, other_end in second
        if max(begin, other_begin) <= min(end, other_end)
    ]
