"""What the projector counts."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from prometheus_client import CollectorRegistry, Counter, Gauge

from shared.contracts.enums import FindingKind, LetterKind, ReconciliationStatus, Step
from shared.database.outbox_queue import Backlog
from shared.database.reconciliations import Reconciliation
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
        self._left = Counter(
            "knowgate_dispatcher_commands_left_total",
            "Times that a command was not taken by the broker and waits for the next round.",
            registry=registry,
        )
        self._full = Gauge(
            "knowgate_dispatcher_is_stream_full", "1 while the command stream takes nothing more.", registry=registry
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
        self._unpublished = Gauge(
            "knowgate_audit_unpublished_entries",
            "Audit entries in their chain that are not in the audit stream yet.",
            registry=registry,
        )
        self._checkpoint_age = Gauge(
            "knowgate_audit_checkpoint_age_seconds",
            "Time since all audit chains were last signed as they were; NaN where nobody signs.",
            registry=registry,
        )
        self._letters = Gauge(
            "knowgate_dead_letters", "Dead letters that no operator has settled.", ["kind"], registry=registry
        )
        self._overdue = Gauge(
            "knowgate_overdue_operations",
            "Unfinished operations that have not moved for longer than they should.",
            registry=registry,
        )
        self._newer = Counter(
            "knowgate_projector_newer_events_total",
            "How often this process met an event of a newer release and left the work to an upgraded one.",
            registry=registry,
        )
        self._reconciliations = Counter(
            "knowgate_reconciliations_total", "Reconciliations that have ended.", ["status"], registry=registry
        )
        self._findings = Gauge(
            "knowgate_reconciliation_findings",
            "What the last reconciliation of all tenants found, repaired or not.",
            ["kind"],
            registry=registry,
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

    def left(self, commands: int, *, is_full: bool) -> None:
        """Count commands that the broker did not take, and note whether that is because the stream is full."""
        self._left.inc(commands)
        self._full.set(is_full)

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
            self._full.set(0)
            self._findings.clear()
            self._unsealed.set(0)
            self._letters.clear()
            self._overdue.set(0)
            self.audited(0, None)

    def measured(self, backlog: Mapping[Step, Backlog], workers: int, now: datetime) -> None:
        """Note what the tables and the workers tell."""
        for step, figures in backlog.items():
            self._backlog.labels(step.value, "queued").set(figures.queued)
            self._backlog.labels(step.value, "waiting").set(figures.waiting)
            self._backlog.labels(step.value, "published").set(figures.published)
            age = 0.0 if figures.oldest_due_at is None else (now - figures.oldest_due_at).total_seconds()
            self._age.labels(step.value).set(max(0.0, age))
        self._workers.set(workers)

    def unsettled(self, letters: Mapping[LetterKind, int]) -> None:
        """Note how many dead letters wait for an operator."""
        for kind, number in letters.items():
            self._letters.labels(kind.value).set(number)

    def overdue(self, operations: int) -> None:
        """Note how many operations have been still for too long."""
        self._overdue.set(operations)

    def newer(self) -> None:
        """An event of a newer release ended the term."""
        self._newer.inc()

    def unsealed(self, entries: int) -> None:
        """Note how many entries of the audit wait to be sealed."""
        self._unsealed.set(entries)

    def audited(self, unpublished: int, checkpoint_age: timedelta | None) -> None:
        """Note how many sealed entries are not published, and how old the last checkpoints are."""
        self._unpublished.set(unpublished)
        self._checkpoint_age.set(math.nan if checkpoint_age is None else checkpoint_age.total_seconds())

    def reconciled(self, ended: Reconciliation) -> None:
        """Count a reconciliation, and note what one of all tenants found."""
        self._reconciliations.labels(ended.status.value).inc()
        if ended.tenant_id is None and ended.status is ReconciliationStatus.DONE:
            for kind in FindingKind:
                self._findings.labels(kind.value).set(ended.totals.get(kind, 0))

    def lagging(self, events: int) -> None:
        """Note how many events of the stream are not applied."""
        self._lag.set(events)
