"""Around every request: stamps, the raw path, headers that every answer bears, metrics, and the last net for errors."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.api.edge.answers import error_response
from services.api.edge.errors import refuse
from services.api.edge.headers import read_headers
from services.api.edge.paths import split_action
from services.api.edge.stamps import STAMPS, Stamps, stamp
from services.api.metrics import ApiMetrics
from shared.contracts.errors import ErrorCode
from shared.contracts.route import REQUEST_ID

log = structlog.get_logger()

HEADERS: Final = "knowgate.headers"
"""Under this key a request's scope holds its headers as text."""
ROUTE: Final = "knowgate.route"
"""Under this key a request's scope holds the name of its route once it is known."""
UNKNOWN_ROUTE: Final = "unknown"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Other methods share one label: a caller may invent any number."""

_NO_STORE: Final = (b"cache-control", b"no-store")
_REQUEST_ID: Final = REQUEST_ID.name.lower().encode()


class Edge:
    """The outermost layer of ours. Errors that no handler foresaw end here."""

    def __init__(self, app: ASGIApp, metrics: ApiMetrics, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = scope[HEADERS] = read_headers(scope["headers"])
        stamps = scope[STAMPS] = stamp(headers)
        scope["path"] = split_action(scope["raw_path"].decode("latin-1"))
        sender = _Sender(send, stamps)
        begin = time.perf_counter()
        with self._metrics.in_flight.track_inprogress():
            await self._answer(scope, receive, sender)
        took = timedelta(seconds=time.perf_counter() - begin)
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.answered(scope.get(ROUTE, UNKNOWN_ROUTE), method, sender.status, took)

    async def _answer(self, scope: Scope, receive: Receive, sender: "_Sender") -> None:
        try:
            await self._app(scope, receive, sender)
        except Exception:
            # An answer that has begun cannot be taken back: the server sees that it is incomplete and hangs up.
            log.exception("api.request.crashed", route=scope.get(ROUTE), request_id=sender.stamps.request_id)
            if sender.status == 0:
                refusal = refuse(ErrorCode.INTERNAL_ERROR)
                response = error_response(refusal.error, refusal.status, sender.stamps, self._clock())
                await response(scope, receive, sender)


class _Sender:
    """Sends an answer with the headers that every answer bears, and remembers its status."""

    def __init__(self, send: Send, stamps: Stamps) -> None:
        self._send = send
        self.stamps = stamps
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], _NO_STORE, (_REQUEST_ID, self.stamps.request_id.encode())]
        await self._send(message)
