"""A gateway of scripted answers behind the client's own transport, and the requests that reached it."""

import json
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
from pydantic import SecretStr

from shared.client.credentials import Credentials
from shared.client.exchange import Exchange, Patience

META = {
    "success": True,
    "requestId": "request-1",
    "traceId": "trace-1",
    "timestamp": "2026-03-01T12:00:00.000Z",
    "apiVersion": "v1",
    "pagination": None,
    "error": None,
}

SPACE = {"spaceId": "spc_1", "code": "handbook", "name": "Handbook", "status": "ACTIVE", "version": 1}

Reply = httpx.Response | Exception


@dataclass
class ScriptedGateway:
    """Answers requests with its replies, one after the other, and keeps what it was asked."""

    replies: list[Reply]
    asked: list[httpx.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    assertions: int = 0

    def exchange(self, *, attempts: int = 3) -> Exchange:
        """An exchange that talks to this gateway; it never really waits."""
        http = httpx.AsyncClient(base_url="http://gateway.test", transport=httpx.MockTransport(self._answer))
        numbers = iter(range(1, 1000))
        return Exchange(
            http,
            Credentials(service_token=SecretStr("service"), session_id="session-1", assertion=self._assertion),
            patience=Patience(
                attempts=attempts,
                first_wait=timedelta(seconds=1),
                longest_wait=timedelta(seconds=4),
                pause=self._pause,
                jitter=lambda: 1.0,
            ),
            make_id=lambda prefix: f"{prefix}-{next(numbers)}",
        )

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        self.bodies.append(await request.aread())
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def _assertion(self) -> SecretStr:
        self.assertions += 1
        return SecretStr(f"assertion-{self.assertions}")


def success(data: object, *, status: int = 200, pagination: object = None) -> httpx.Response:
    """A success of the contract."""
    return httpx.Response(status, json={"data": data, "meta": META | {"pagination": pagination}})


def refusal(
    status: int, code: str, *, retryable: bool = False, headers: dict[str, str] | None = None, faults: object = ()
) -> httpx.Response:
    """An error of the contract."""
    error = {"code": code, "message": "No.", "retryable": retryable, "fieldErrors": faults}
    meta = META | {"success": False, "error": error}
    return httpx.Response(status, json={"data": None, "meta": meta}, headers=headers)


def body_of(raw: bytes) -> object:
    """The JSON of a request."""
    return json.loads(raw)
