"""One path with its methods: authenticates, calls the handler, turns errors outward."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from services.api.audit.counting import Allowed, Refused, is_counted
from services.api.audit.trail import AuditTrail
from services.api.edge.bodies import in_time
from services.api.edge.call import Call, Handler, query_pairs
from services.api.edge.errors import Refusal, outward, refuse
from services.api.edge.forms import Enveloped, Form
from services.api.edge.identity import Authenticates, identify
from services.api.edge.middleware import HEADERS, ROUTE
from services.api.edge.stamps import STAMPS, Stamps
from services.api.limits.rate import RateLimit
from services.api.metrics import ApiMetrics
from shared.auth.errors import AuthenticationRefused
from shared.contracts.documents import EmptyRequest
from shared.contracts.errors import ErrorCode, RequestRefused
from shared.contracts.reading import read_query
from shared.contracts.route import Route
from shared.domain.errors import LIMIT_REACHED, KnowgateError, Transient, Unauthenticated

log = structlog.get_logger()

DENIALS: Final = frozenset({403, 404})
"""Answers to a known caller that are written to the audit: not allowed, or not visible, which may be the same."""

ENVELOPED: Final = Enveloped()

MALFORMED: Final = "header_malformed"
"""Why credentials were refused that did not even look like any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """What every resource needs of the process."""

    authenticator: Authenticates
    rate: RateLimit
    trail: AuditTrail
    metrics: ApiMetrics
    clock: Callable[[], datetime]


class Resource:
    """An ASGI endpoint for one path. Nothing that a handler raises gets past it."""

    def __init__(self, handlers: Mapping[Route, Handler], edges: Edges, form: Form = ENVELOPED) -> None:
        self._handlers = {route.method: (route, handler) for route, handler in handlers.items()}
        self._counted = frozenset(route.tool for route in handlers if is_counted(route))
        self._edges = edges
        self._form = form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        stamps: Stamps = scope[STAMPS]
        known = self._handlers.get(scope["method"])
        if known is None:
            response = self._refused(
                refuse(ErrorCode.METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(self._handlers)}), stamps
            )
        else:
            scope[ROUTE] = known[0].tool
            try:
                response = await self._answer(*known, Request(scope, receive, send), stamps)
            except ClientDisconnect:
                log.info("api.request.abandoned", route=known[0].tool, request_id=stamps.request_id)
                return
        await response(scope, receive, send)

    async def _answer(self, route: Route, handler: Handler, request: Request, stamps: Stamps) -> Response:
        call: Call | None = None
        try:
            call = await self._call(route, request, stamps)
            answer = await handler(call)
            if route.tool in self._counted:
                await self._edges.trail.count(Allowed.of(call.caller, route))
            if isinstance(answer, Response):
                return answer
            return self._form.success(answer, stamps, self._edges.clock())
        except (RequestRefused, KnowgateError) as error:
            refusal = outward(error)
            self._note(route, refusal, error, stamps)
            if isinstance(error, Unauthenticated):
                await self._edges.trail.count(Refused(source_of(request), reason_of(error)))
            if call is not None and refusal.status in DENIALS:
                await self._edges.trail.denied(call, refusal.error.code)
            return self._refused(refusal, stamps)

    async def _call(self, route: Route, request: Request, stamps: Stamps) -> Call:
        scope = request.scope
        headers: Mapping[str, str] = scope[HEADERS]
        caller = await identify(headers, self._edges.authenticator)
        self._edges.rate.take(caller.tenant)
        if route.taken_query is None and scope["query_string"]:
            read_query(EmptyRequest, query_pairs(scope["query_string"]))
        return Call(
            route=route,
            caller=caller,
            stamps=stamps,
            headers=headers,
            segments=scope["path_params"],
            query_string=scope["query_string"],
            chunks=in_time(request.stream()),
            receive=request.receive,
        )

    def _note(self, route: Route, refusal: Refusal, error: Exception, stamps: Stamps) -> None:
        """What we could not do is logged with its cause; what a caller did wrong counts. Why a caller is not known is
        told nowhere but here and in the audit.
        """
        if isinstance(error, Unauthenticated):
            reason = reason_of(error)
            self._edges.metrics.refused_credentials.labels(reason).inc()
            log.info("api.request.unauthenticated", reason=reason, route=route.tool, request_id=stamps.request_id)
        for fault in refusal.error.field_errors:
            if fault.reason == LIMIT_REACHED:
                self._edges.metrics.limits.labels(fault.field).inc()
        if not refusal.is_ours:
            return
        told = {"route": route.tool, "code": refusal.error.code, "request_id": stamps.request_id}
        if isinstance(error, Transient):
            log.warning("api.request.unavailable", reason=error.message, cause=repr(error.__cause__), **told)
        else:
            log.error("api.request.failed", trace_id=stamps.trace_id, exc_info=error, **told)

    def _refused(self, refusal: Refusal, stamps: Stamps) -> Response:
        self._edges.metrics.errors.labels(refusal.error.code).inc()
        return self._form.refused(refusal, stamps, self._edges.clock())


def reason_of(error: Unauthenticated) -> str:
    """Why a caller is not known, in a word that is never answered."""
    return error.reason.value if isinstance(error, AuthenticationRefused) else MALFORMED


def source_of(request: Request) -> str:
    """The address at the other end of the connection; whoever stands before the api decides what that is."""
    return "unknown" if request.client is None else request.client.host
