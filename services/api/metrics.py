"""What the api counts. No id is ever a label."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ApiMetrics:
    """The api's metrics in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._requests = Counter(
            "knowgate_api_requests", "Requests answered", ["route", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "knowgate_api_request_seconds",
            "Time to the end of the answer",
            ["route"],
            buckets=BUCKETS,
            registry=registry,
        )
        self.in_flight = Gauge("knowgate_api_requests_in_flight", "Requests being answered", registry=registry)
        self.event_streams = Gauge("knowgate_api_event_streams", "Streams of events that are open", registry=registry)
        self.errors = Counter("knowgate_api_errors", "Answers that are errors, by code", ["code"], registry=registry)
        self.limits = Counter(
            "knowgate_api_limits", "Answers that a limit was reached, by its name", ["limit"], registry=registry
        )
        self.refused_credentials = Counter(
            "knowgate_api_refused_credentials", "Calls by nobody known, by reason", ["reason"], registry=registry
        )
        self.published = Counter(
            "knowgate_api_commands",
            "Committed commands, by what became of them",
            ["outcome"],
            registry=registry,
        )
        self.replays = Counter("knowgate_api_replays", "Answers repeated for an idempotency key", registry=registry)
        self.uploaded_bytes = Counter("knowgate_api_uploaded_bytes", "Bytes of files received", registry=registry)
        self.foreign_hits = Counter(
            "knowgate_api_foreign_hits", "Hits of a provider that it was not asked for", registry=registry
        )
        self.audit_waiting = Gauge(
            "knowgate_api_audit_waiting_entries", "Audit entries of reads not written yet", registry=registry
        )
        self._request_counter = cache(self._requests.labels)
        self._request_timer = cache(self._seconds.labels)

    def answered(self, route: str, method: str, status: int, took: timedelta) -> None:
        """Count one request."""
        self._request_counter(route, method, str(status)).inc()
        self._request_timer(route).observe(took.total_seconds())

    async def counted(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces of a file, counted as they come."""
        async for chunk in chunks:
            self.uploaded_bytes.inc(len(chunk))
            yield chunk
