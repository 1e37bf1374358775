"""What the projector counts."""

from collections.abc import Mapping
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge

from shared.contracts.enums import Step
from shared.database.outbox_queue import Backlog
from shared.lifecycle.apply_events import Applied


class ProjectorMetrics:
    """The metrics of one projector process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter(
            "knowgate_projector_events_total",
            "Events read from the stream, by what became of them.",
            ["outcome"],
            registry=registry,
        )
        self._commands = Counter(
            "knowgate_projector_commands_issued_total", "Commands that events led to.", registry=registry
        )
        self._published = Counter(
            "knowgate_dispatcher_commands_published_total", "Commands that were published.", registry=registry
        )
        self._lost = Counter(
            "knowgate_dispatcher_commands_lost_total", "Commands whose message was gone.", registry=registry
        )
        self._backlog = Gauge(
            "knowgate_backlog_commands",
            "Commands that no worker has answered: queued, waiting for their time, and published.",
            ["step", "state"],
            registry=registry,
        )
        self._age = Gauge(
            "knowgate_backlog_oldest_age_seconds",
            "Age of the oldest command that is due and not answered.",
            ["step"],
            registry=registry,
        )
        self._lag = Gauge("knowgate_projector_lag_events", "Events in the stream not yet applied.", registry=registry)
        self._unsealed = Gauge(
            "knowgate_audit_unsealed_entries", "Audit entries that are not in their chain yet.", registry=registry
        )
        self._active = Gauge("knowgate_projector_is_active", "1 while this process holds the lease.", registry=registry)
        self._workers = Gauge("knowgate_workers_heard", "Workers that announced themselves lately.", registry=registry)

    def applied(self, applied: Applied) -> None:
        """Count one batch."""
        self._events.labels("applied").inc(applied.applied)
        self._events.labels("skipped").inc(applied.skipped)
        self._events.labels("known").inc(applied.known)
        self._events.labels("unknown_owner").inc(applied.unknown_owner)
        self._commands.inc(applied.issued)

    def published(self, commands: int) -> None:
        """Count published commands."""
        self._published.inc(commands)

    def lost(self, commands: int) -> None:
        """Count commands whose message was gone."""
        self._lost.inc(commands)

    def active(self, *, is_active: bool) -> None:
        """Note whether this process is the active one. One that is not says nothing of the backlog any more."""
        self._active.set(is_active)
        if not is_active:
            self._backlog.clear()
            self._age.clear()
            self._lag.set(0)
            self._unsealed.set(0)

    def measured(self, backlog: Mapping[Step, Backlog], workers: int, now: datetime) -> None:
        """Note what the tables and the workers tell."""
        for step, figures in backlog.items():
            self._backlog.labels(step.value, "queued").set(figures.queued)
            self._backlog.labels(step.value, "waiting").set(figures.waiting)
            self._backlog.labels(step.value, "published").set(figures.published)
            age = 0.0 if figures.oldest_due_at is None else (now - figures.oldest_due_at).total_seconds()
            self._age.labels(step.value).set(max(0.0, age))
        self._workers.set(workers)

    def unsealed(self, entries: int) -> None:
        """Note how many entries of the audit wait to be sealed."""
        self._unsealed.set(entries)

    def lagging(self, events: int) -> None:
        """Note how many events of the stream are not applied."""
        self._lag.set(events)
