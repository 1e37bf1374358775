"""What the projector tells of itself: a process that is not active says nothing of the backlog."""

from datetime import UTC, datetime, timedelta

from prometheus_client import CollectorRegistry

from services.projector.metrics import ProjectorMetrics
from shared.contracts.enums import FindingKind, LetterKind, ReconciliationStatus, Step
from shared.contracts.ids import ReconciliationId, TenantId
from shared.database.outbox_queue import Backlog
from shared.database.reconciliations import Reconciliation

NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUEUED = {"step": "upload", "state": "queued"}


def test_figures_of_the_backlog_go_with_the_lease() -> None:
    registry = CollectorRegistry()
    metrics = ProjectorMetrics(registry)
    metrics.active(is_active=True)
    metrics.measured({Step.UPLOAD: Backlog(queued=7, oldest_due_at=NOW - timedelta(seconds=9))}, 2, NOW)
    metrics.lagging(5)
    metrics.unsealed(3)
    metrics.audited(4, timedelta(seconds=61))
    metrics.unsettled({LetterKind.EVENT: 2, LetterKind.COMMAND: 0})
    metrics.overdue(4)
    assert registry.get_sample_value("knowgate_dead_letters", {"kind": "event"}) == 2
    assert registry.get_sample_value("knowgate_overdue_operations") == 4
    assert registry.get_sample_value("knowgate_backlog_commands", QUEUED) == 7
    assert registry.get_sample_value("knowgate_backlog_oldest_age_seconds", {"step": "upload"}) == 9
    assert registry.get_sample_value("knowgate_projector_lag_events") == 5
    assert registry.get_sample_value("knowgate_audit_unsealed_entries") == 3
    assert registry.get_sample_value("knowgate_audit_unpublished_entries") == 4
    assert registry.get_sample_value("knowgate_audit_checkpoint_age_seconds") == 61

    metrics.active(is_active=False)
    assert registry.get_sample_value("knowgate_backlog_commands", QUEUED) is None
    assert registry.get_sample_value("knowgate_dead_letters", {"kind": "event"}) is None
    assert registry.get_sample_value("knowgate_overdue_operations") == 0
    assert registry.get_sample_value("knowgate_backlog_oldest_age_seconds", {"step": "upload"}) is None
    assert registry.get_sample_value("knowgate_projector_lag_events") == 0
    assert registry.get_sample_value("knowgate_audit_unsealed_entries") == 0
    assert registry.get_sample_value("knowgate_audit_unpublished_entries") == 0
    assert str(registry.get_sample_value("knowgate_audit_checkpoint_age_seconds")) == "nan"


def a_reconciliation(tenant: str | None, **totals: int) -> Reconciliation:
    return Reconciliation(
        id=ReconciliationId("rec_1"),
        tenant_id=None if tenant is None else TenantId(tenant),
        status=ReconciliationStatus.DONE,
        applies=True,
        requested_by="ana",
        created_at=NOW,
        totals={FindingKind(kind): number for kind, number in totals.items()},
    )


def test_of_reconciliations_the_last_of_all_tenants_tells_what_was_found() -> None:
    registry = CollectorRegistry()
    metrics = ProjectorMetrics(registry)

    def found(kind: str) -> float | None:
        return registry.get_sample_value("knowgate_reconciliation_findings", {"kind": kind})

    metrics.reconciled(a_reconciliation(None, UNNEEDED_FILE=3))
    metrics.reconciled(a_reconciliation("acme", UNNEEDED_FILE=1))
    assert (found("UNNEEDED_FILE"), found("MISSING_OBJECT")) == (3, 0)
    assert registry.get_sample_value("knowgate_reconciliations_total", {"status": "DONE"}) == 2

    metrics.active(is_active=False)
    assert found("UNNEEDED_FILE") is None
