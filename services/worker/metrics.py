"""What a worker counts. No id is ever a label."""

from collections.abc import Mapping
from datetime import timedelta

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.worker.outcomes import Failed, Interrupted, Outcome
from shared.contracts.enums import Step

BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200)


class WorkerMetrics:
    """The worker's metrics in one registry."""

    def __init__(self, registry: CollectorRegistry, slots: Mapping[Step, int]) -> None:
        self._answers = Counter(
            "knowgate_worker_answers", "Commands answered, by how they ended", ["step", "outcome"], registry=registry
        )
        self._failures = Counter(
            "knowgate_worker_failures",
            "Commands that failed, by class and reason",
            ["step", "class", "reason"],
            registry=registry,
        )
        self._seconds = Histogram(
            "knowgate_worker_step_seconds",
            "From the arrival of a command to its answer",
            ["step"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._busy = Gauge("knowgate_worker_busy_slots", "Commands being worked on", ["step"], registry=registry)
        self._slots = Gauge(
            "knowgate_worker_slots", "Commands that can be worked on at once", ["step"], registry=registry
        )
        self._redelivered = Counter(
            "knowgate_worker_redeliveries", "Commands that another delivery did not answer", ["step"], registry=registry
        )
        self._fenced = Counter(
            "knowgate_worker_fenced",
            "Commands given up because they may be in other hands",
            ["step"],
            registry=registry,
        )
        self._unreadable = Counter(
            "knowgate_worker_unreadable", "Commands that could not be read", ["step"], registry=registry
        )
        self._newer = Counter(
            "knowgate_worker_newer_commands",
            "Commands of a newer release, handed back for a worker that is upgraded",
            ["step"],
            registry=registry,
        )
        for step, count in slots.items():
            self._slots.labels(step.value).set(count)
            self._busy.labels(step.value).set(0)

    def began(self, step: Step, delivery: int) -> None:
        """A command has arrived; `delivery` is 1 unless it was delivered before."""
        self._busy.labels(step.value).inc()
        if delivery > 1:
            self._redelivered.labels(step.value).inc()

    def ended(self, step: Step, took: timedelta) -> None:
        """Its slot is free again."""
        self._busy.labels(step.value).dec()
        self._seconds.labels(step.value).observe(took.total_seconds())

    def answered(self, step: Step, outcome: Outcome) -> None:
        """How it ended is known to the broker."""
        name = outcome.reason.value if isinstance(outcome, Interrupted) else type(outcome).__name__.lower()
        self._answers.labels(step.value, name).inc()
        if isinstance(outcome, Failed):
            self._failures.labels(step.value, outcome.failure_class.value, outcome.reason.value).inc()

    def fenced(self, step: Step) -> None:
        """It was given up without an answer."""
        self._fenced.labels(step.value).inc()

    def unreadable(self, step: Step) -> None:
        """It could not be read."""
        self._unreadable.labels(step.value).inc()

    def newer(self, step: Step) -> None:
        """It was handed back for a worker of a newer release."""
        self._newer.labels(step.value).inc()
