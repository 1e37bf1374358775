"""What the projector tells of itself: a process that is not active says nothing of the backlog."""

from datetime import UTC, datetime, timedelta

from prometheus_client import CollectorRegistry

from services.projector.metrics import ProjectorMetrics
from shared.contracts.enums import Step
from shared.database.outbox_queue import Backlog

NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUEUED = {"step": "upload", "state": "queued"}


def test_figures_of_the_backlog_go_with_the_lease() -> None:
    registry = CollectorRegistry()
    metrics = ProjectorMetrics(registry)
    metrics.active(is_active=True)
    metrics.measured({Step.UPLOAD: Backlog(queued=7, oldest_due_at=NOW - timedelta(seconds=9))}, 2, NOW)
    metrics.lagging(5)
    metrics.unsealed(3)
    assert registry.get_sample_value("knowgate_backlog_commands", QUEUED) == 7
    assert registry.get_sample_value("knowgate_backlog_oldest_age_seconds", {"step": "upload"}) == 9
    assert registry.get_sample_value("knowgate_projector_lag_events") == 5
    assert registry.get_sample_value("knowgate_audit_unsealed_entries") == 3

    metrics.active(is_active=False)
    assert registry.get_sample_value("knowgate_backlog_commands", QUEUED) is None
    assert registry.get_sample_value("knowgate_backlog_oldest_age_seconds", {"step": "upload"}) is None
    assert registry.get_sample_value("knowgate_projector_lag_events") == 0
    assert registry.get_sample_value("knowgate_audit_unsealed_entries") == 0
