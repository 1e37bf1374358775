"""A reconciliation is waited for to its end, and what is left after it is counted."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.reconciling import Patience, count_remaining, reconcile_once
from shared.client.errors import StillRunning
from shared.contracts.enums import FindingKind, FindingOutcome, ReconciliationStatus
from shared.contracts.ids import ReconciliationId
from shared.contracts.operating import Finding, Reconciliation, ReconciliationRequest


def a_reconciliation(
    status: ReconciliationStatus, *outcomes: FindingOutcome, more: int = 0, apply: bool = False
) -> Reconciliation:
    findings = tuple(Finding(kind=FindingKind.UNNEEDED_FILE, outcome=one, explanation="x") for one in outcomes)
    return Reconciliation(
        reconciliation_id=ReconciliationId("rec_1"),
        status=status,
        apply=apply,
        requested_by="root",
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        totals={FindingKind.UNNEEDED_FILE: len(findings) + more},
        findings=findings,
    )


class Gateway:
    """Ends a reconciliation at the n-th look; time passes while nobody looks."""

    def __init__(self, ends_at_look: int) -> None:
        self.ends_at_look = ends_at_look
        self.looks = 0
        self.now = 0.0

    async def request_reconciliation(self, request: ReconciliationRequest) -> Reconciliation:
        return a_reconciliation(ReconciliationStatus.REQUESTED, apply=request.apply)

    async def get_reconciliation(self, reconciliation_id: ReconciliationId) -> Reconciliation:
        self.looks += 1
        has_ended = self.looks >= self.ends_at_look
        return a_reconciliation(ReconciliationStatus.DONE if has_ended else ReconciliationStatus.RUNNING)

    async def pause(self, seconds: float) -> None:
        self.now += seconds


def patience(gateway: Gateway, **within: float) -> Patience:
    return Patience(within=timedelta(**within), clock=lambda: gateway.now, pause=gateway.pause)


async def test_its_end_is_waited_for() -> None:
    gateway = Gateway(ends_at_look=3)
    done = await reconcile_once(gateway, ReconciliationRequest(apply=True), patience(gateway, minutes=1))
    assert (done.status, gateway.looks, gateway.now) == (ReconciliationStatus.DONE, 3, 2.0)


async def test_it_is_not_waited_for_longer_than_allowed() -> None:
    gateway = Gateway(ends_at_look=99)
    with pytest.raises(StillRunning, match="reconciliation rec_1 has not ended within 3 s"):
        await reconcile_once(gateway, ReconciliationRequest(), patience(gateway, seconds=3))
    assert gateway.looks == 4


@pytest.mark.parametrize(
    ("outcomes", "more", "remaining"),
    [
        ((), 0, 0),
        ((FindingOutcome.REPAIRED, FindingOutcome.CHANGED), 0, 0),
        ((FindingOutcome.REPAIRED, FindingOutcome.REPORTED, FindingOutcome.FAILED), 0, 2),
        ((FindingOutcome.REPAIRED,), 5, 5),
    ],
)
def test_what_was_repaired_or_is_not_so_any_more_is_not_left(
    outcomes: tuple[FindingOutcome, ...], more: int, remaining: int
) -> None:
    assert count_remaining(a_reconciliation(ReconciliationStatus.DONE, *outcomes, more=more)) == remaining
