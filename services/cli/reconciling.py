"""A reconciliation from its request to its end, and what is left to be done after it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

import anyio

from shared.client.errors import StillRunning
from shared.client.exchange import Pause
from shared.contracts.enums import FindingOutcome, ReconciliationStatus
from shared.contracts.ids import ReconciliationId
from shared.contracts.operating import Reconciliation, ReconciliationRequest

ENDED: Final = frozenset({ReconciliationStatus.DONE, ReconciliationStatus.FAILED})
SETTLED: Final = frozenset({FindingOutcome.REPAIRED, FindingOutcome.CHANGED})
"""A finding with one of these outcomes is none any more."""
LOOK_EVERY: Final = timedelta(seconds=1)


class Reconciles(Protocol):
    """Where reconciliations are asked for and looked at."""

    async def request_reconciliation(self, request: ReconciliationRequest) -> Reconciliation:
        """Ask for one."""

    async def get_reconciliation(self, reconciliation_id: ReconciliationId) -> Reconciliation:
        """One with what it has found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long the end is waited for, and by which clock."""

    within: timedelta
    clock: Callable[[], float] = time.monotonic
    """Seconds since some moment."""
    pause: Pause = anyio.sleep


async def reconcile_once(gateway: Reconciles, request: ReconciliationRequest, patience: Patience) -> Reconciliation:
    """Ask for a reconciliation and wait until it has ended; StillRunning when time is up: it goes on by itself."""
    deadline = patience.clock() + patience.within.total_seconds()
    asked = await gateway.request_reconciliation(request)
    while (now := await gateway.get_reconciliation(asked.reconciliation_id)).status not in ENDED:
        if patience.clock() >= deadline:
            raise StillRunning(f"reconciliation {asked.reconciliation_id}", patience.within)
        await patience.pause(LOOK_EVERY.total_seconds())
    return now


def count_remaining(done: Reconciliation) -> int:
    """How many findings are left; what is counted and not listed may be left as well."""
    listed = sum(finding.outcome not in SETTLED for finding in done.findings)
    return listed + sum(done.totals.values()) - len(done.findings)
