"""Metrics and health over HTTP."""

import httpx
from prometheus_client import Counter

from shared.telemetry.metrics import new_registry, serve_metrics

LOOPBACK = "127.0.0.1"


def test_metrics_hold_ours_and_those_of_the_process() -> None:
    registry = new_registry()
    Counter("knowgate_test_events", "Events in a test", registry=registry).inc(3)
    with serve_metrics(LOOPBACK, 0, registry=registry) as server:
        answer = httpx.get(f"http://{LOOPBACK}:{server.port}/metrics")
    assert "knowgate_test_events_total 3.0" in answer.text
    assert "process_resident_memory_bytes" in answer.text


def test_a_process_that_lives_and_has_all_it_needs_says_so() -> None:
    with serve_metrics(LOOPBACK, 0, registry=new_registry(), readiness=lambda: {"broker": True}) as server:
        live = httpx.get(f"http://{LOOPBACK}:{server.port}/livez")
        ready = httpx.get(f"http://{LOOPBACK}:{server.port}/readyz")
    assert live.status_code == 200
    assert (ready.status_code, ready.json()) == (200, {"broker": "ok"})


def test_a_process_that_lacks_a_part_names_it_and_is_not_ready() -> None:
    parts = {"broker": False, "provider": True}
    with serve_metrics(LOOPBACK, 0, registry=new_registry(), readiness=lambda: parts) as server:
        ready = httpx.get(f"http://{LOOPBACK}:{server.port}/readyz")
    assert (ready.status_code, ready.json()) == (503, {"broker": "failed", "provider": "ok"})


def test_nothing_else_is_served() -> None:
    with serve_metrics(LOOPBACK, 0, registry=new_registry()) as server:
        assert httpx.get(f"http://{LOOPBACK}:{server.port}/").status_code == 404
