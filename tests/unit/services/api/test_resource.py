"""One path with its methods, and the layer around all of them, with handlers that go wrong."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import httpx
import pytest
import structlog
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from services.api.app import contract_paths
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer
from services.api.edge.call import Call
from services.api.edge.middleware import Edge
from services.api.edge.resource import Edges
from services.api.limits.rate import RateLimit
from services.api.metrics import ApiMetrics
from shared.contracts.envelope import ErrorEnvelope
from shared.contracts.ids import SubjectId, TenantId
from shared.contracts.route import Route
from shared.contracts.routes import ROUTES
from shared.domain.errors import StoreUnavailable
from shared.domain.identity import Caller

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
HEADERS = {
    "authorization": "Bearer token",
    "x-user-assertion": "assertion",
    "x-harness-session-id": "session",
    "x-tool-call-id": "call",
    "x-request-id": "request",
}


class Anybody:
    """Believes everybody."""

    async def authenticate(self, authorization: str | None, assertion: str | None, session_id: str | None) -> Caller:
        return Caller(tenant=TenantId("acme"), subject=SubjectId("alice"), session_id="session", service="harness")


def make_app(answer: Callable[[Call], Awaitable[Answer]]) -> ASGIApp:
    metrics = ApiMetrics(CollectorRegistry())

    async def write(entries: object) -> None:
        """Denials go nowhere here."""

    trail = AuditTrail(write, metrics, lambda: NOW, lambda prefix: prefix)
    rate = RateLimit(0, 1, lambda: 0.0)
    edges = Edges(authenticator=Anybody(), rate=rate, trail=trail, metrics=metrics, clock=lambda: NOW)
    app = FastAPI(routes=[*contract_paths(dict.fromkeys(ROUTES, answer), edges)])
    app.add_middleware(Edge, metrics=metrics, clock=lambda: NOW)
    return app


async def ask(app: ASGIApp, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", trust_env=False) as client:
        return await client.get(f"/internal/v1/knowledge{path}", headers=HEADERS)


async def test_an_error_that_nobody_foresaw_is_a_sanitised_500_logged_once() -> None:
    async def crash(call: Call) -> Answer:
        raise ValueError("postgresql://user:secret@host")

    with structlog.testing.capture_logs() as logs:
        answer = await ask(make_app(crash), "/spaces/spc_1")

    assert answer.status_code == 500
    envelope = ErrorEnvelope.model_validate_json(answer.content)
    assert envelope.meta.error.code == "INTERNAL_ERROR"
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"] == "request"
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("api.request.crashed", "error")]


async def test_a_store_that_is_away_is_a_503_logged_once_with_its_cause() -> None:
    async def fail(call: Call) -> Answer:
        raise StoreUnavailable from OSError("disk full")

    with structlog.testing.capture_logs() as logs:
        answer = await ask(make_app(fail), "/spaces/spc_1")

    assert answer.status_code == 503
    assert answer.json()["meta"]["error"]["retryable"] is True
    assert [(entry["event"], entry["cause"]) for entry in logs] == [("api.request.unavailable", "OSError('disk full')")]


async def test_a_handler_is_given_decoded_ids_and_the_caller() -> None:
    seen: list[tuple[str, str, str]] = []

    async def look(call: Call) -> Answer:
        seen.append((call.id("spaceId", str), call.caller.subject, call.tool_call_id))
        return Answer(status=200, content=b"{}")

    await ask(make_app(look), "/spaces/a%2Fb%3Ac")

    assert seen == [("a/b:c", "alice", "call")]


async def test_an_answer_that_breaks_off_is_not_answered_twice() -> None:
    async def breaks_off(scope: Scope, receive: Receive, send: Send) -> None:
        async def content() -> AsyncIterator[bytes]:
            yield b"half"
            raise OSError("disk gone")

        await StreamingResponse(content())(scope, receive, send)

    sent: list[str] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(str(message["type"]))

    async def receive() -> dict[str, object]:
        await asyncio.sleep(3600)
        raise AssertionError

    scope: Scope = {
        "type": "http",
        "method": "GET",
        "raw_path": b"/x",
        "headers": [],
        "asgi": {"version": "3.0", "spec_version": "2.4"},
    }
    with structlog.testing.capture_logs() as logs:
        await Edge(breaks_off, ApiMetrics(CollectorRegistry()), lambda: NOW)(scope, receive, send)  # type: ignore[arg-type]

    assert sent == ["http.response.start", "http.response.body"]
    assert [entry["event"] for entry in logs] == ["api.request.crashed"]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.tool)
async def test_every_route_of_the_contract_is_there(route: Route) -> None:
    async def nothing(call: Call) -> Answer:
        return Answer(status=200, content=b"{}")

    transport = httpx.ASGITransport(make_app(nothing))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", trust_env=False) as client:
        answer = await client.request(route.method, re.sub(r"\{\w+\}", "x", route.path), headers=HEADERS)

    assert answer.status_code == 200
