"""Metrics and health of a process over HTTP: `/metrics`, `/livez`, `/readyz`. What is counted belongs to each service.

The server runs in a thread, so that it answers while the event loop is busy.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

Readiness = Callable[[], Mapping[str, bool]]
"""Names each part that a process needs, and whether it works."""

STATUS_OK = "200 OK"
STATUS_UNREADY = "503 Service Unavailable"
STATUS_UNKNOWN = "404 Not Found"


def new_registry() -> CollectorRegistry:
    """A registry that already holds what every process tells: memory, processor time, open files."""
    registry = CollectorRegistry(auto_describe=True)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def all_ready() -> Mapping[str, bool]:
    """The readiness of a process that needs nothing."""
    return {}


class _QuietHandler(WSGIRequestHandler):
    """Scrapes are not worth a log line."""

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


class _Server(WSGIServer):
    daemon_threads = True
    allow_reuse_address = True


@dataclass(frozen=True, slots=True)
class _Page:
    status: str
    content_type: str
    body: bytes


class MetricsServer:
    """One listening socket and the thread that answers on it."""

    def __init__(self, host: str, port: int, *, registry: CollectorRegistry, readiness: Readiness = all_ready) -> None:
        self._registry = registry
        self._readiness = readiness
        self._server = make_server(host, port, self._answer, server_class=_Server, handler_class=_QuietHandler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens, also when the system chose the port."""
        return int(self._server.server_port)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(
        self, environ: Mapping[str, object], start_response: Callable[[str, list[tuple[str, str]]], object]
    ) -> Iterable[bytes]:
        page = self._page(str(environ["PATH_INFO"]))
        start_response(page.status, [("Content-Type", page.content_type), ("Content-Length", str(len(page.body)))])
        return [page.body]

    def _page(self, path: str) -> _Page:
        if path == "/metrics":
            return _Page(STATUS_OK, CONTENT_TYPE_LATEST, generate_latest(self._registry))
        if path == "/livez":
            return _Page(STATUS_OK, "text/plain", b"ok")
        if path == "/readyz":
            return _readiness_page(self._readiness())
        return _Page(STATUS_UNKNOWN, "text/plain", b"not found")


def _readiness_page(parts: Mapping[str, bool]) -> _Page:
    """Each part `ok` or `failed`, and nothing else."""
    body = json.dumps({name: "ok" if works else "failed" for name, works in parts.items()}).encode()
    return _Page(STATUS_OK if all(parts.values()) else STATUS_UNREADY, "application/json", body)


def serve_metrics(
    host: str, port: int, *, registry: CollectorRegistry, readiness: Readiness = all_ready
) -> MetricsServer:
    """A server that listens from now on and answers inside its `with` block."""
    return MetricsServer(host, port, registry=registry, readiness=readiness)
