"""What a run came to, as the last line tells it."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.chaos.breaking import STALL
from tests.chaos.ledger import Fault
from tests.chaos.oracle.ending import duplicated, lost
from tests.chaos.oracle.invariants import INVARIANTS
from tests.chaos.oracle.world import CANCELLED, ENDS, FAILED, SUCCEEDED, Violation, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one run. `invariants` counts violations by name."""

    seed: int
    accepted: int
    succeeded: int
    failed: int
    cancelled: int
    kills: int
    stalls: int
    invariants: dict[str, int]
    lost: int
    duplicated: int
    recovery_seconds_p50: float
    recovery_seconds_max: float

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not any(self.invariants.values())


def report(seed: int, world: World, faults: Sequence[Fault], violations: Sequence[Violation]) -> Report:
    """Count everything."""
    promised = {accepted.operation_id for accepted in world.accepted}
    ended = Counter(world.operations[one].status for one in promised if one in world.operations)
    counted = Counter(violation.invariant for violation in violations)
    recoveries = recovery_seconds(world, faults)
    stalls = sum(fault.kind == STALL for fault in faults)
    return Report(
        seed=seed,
        accepted=len(promised),
        succeeded=ended[SUCCEEDED],
        failed=ended[FAILED],
        cancelled=ended[CANCELLED],
        kills=len(faults) - stalls,
        stalls=stalls,
        invariants={name: counted[name] for name in INVARIANTS},
        lost=len(list(lost(world))),
        duplicated=len(list(duplicated(world))),
        recovery_seconds_p50=_middle(recoveries),
        recovery_seconds_max=round(max(recoveries, default=0.0), 2),
    )


def recovery_seconds(world: World, faults: Sequence[Fault]) -> list[float]:
    """After each kill the time until the next operation has ended."""
    ends = sorted(
        transition.at
        for transition in world.transitions
        if transition.resource_type == "OPERATION" and transition.after in ENDS and transition.before not in ENDS
    )
    return [
        (end - fault.at).total_seconds() for fault in faults if fault.kind != STALL for end in _next(ends, fault.at)
    ]


def _next(ends: Sequence[datetime], after: datetime) -> Sequence[datetime]:
    place = bisect_right(ends, after)
    return ends[place : place + 1]


def _middle(values: Sequence[float]) -> float:
    return round(sorted(values)[math.ceil(len(values) / 2) - 1], 2) if values else 0.0
