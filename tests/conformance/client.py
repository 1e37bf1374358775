"""A client that looks at every answer by every rule before it hands it on."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from json import dumps
from typing import Final
from urllib.parse import quote

import httpx

from tests.conformance.answers import Answer, Call, Json
from tests.conformance.contract import FILE_UPLOAD, ROUTES, Route
from tests.conformance.identity import Issuer, User
from tests.conformance.ledger import Ledger
from tests.conformance.rules.errors import CODES
from tests.conformance.rules.finding import found
from tests.conformance.rules.stages import look_at

UNRESERVED: Final = "-_.!~*'()"
CALLS: Final = {
    route.tool: f"CALL {route.tool}: {route.method} {route.path} answers {route.status} {route.data}"
    for route in ROUTES.values()
}


class Broken(AssertionError):
    """A rule does not hold; the text says what was seen instead."""


def expect(holds: bool, complaint: str) -> None:
    """Broken with the complaint unless it holds."""
    if not holds:
        raise Broken(complaint)


class Client:
    """One user's connection to one gateway."""

    def __init__(self, http: httpx.AsyncClient, issuer: Issuer, ledger: Ledger, user: User, most_items: int) -> None:
        """`http` knows the gateway's address and follows nothing."""
        self._http = http
        self._ledger = ledger
        self._most_items = most_items
        self.issuer = issuer
        self.user = user

    def of(self, user: User) -> "Client":
        """The same gateway for another user."""
        return Client(self._http, self.issuer, self._ledger, user, self._most_items)

    def over(self, http: httpx.AsyncClient) -> "Client":
        """The same user at another address."""
        return Client(http, self.issuer, self._ledger, self.user, self._most_items)

    async def ask(
        self, tool: str, *ids: str, query: Mapping[str, object] | None = None, body: Json = None, key: str | None = None
    ) -> Json:
        """Call a tool that must succeed; what it answers as `data`."""
        answer = await self.call(tool, *ids, query=query, body=body, key=key)
        expect(answer.is_success, f"{tool} answered {answer.status} {answer.code} {answer.error.get('fieldErrors')}")
        return answer.data

    async def refused(
        self,
        code: str | Sequence[str],
        tool: str,
        *ids: str,
        query: Mapping[str, object] | None = None,
        body: Json = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Call a tool that must be refused with this code, or with one of these."""
        answer = await self.call(tool, *ids, query=query, body=body, headers=headers)
        return self.must_be(code, answer)

    def must_be(self, code: str | Sequence[str], answer: Answer) -> Answer:
        """The answer itself, which must be an error of this code, or of one of these."""
        codes = [code] if isinstance(code, str) else code
        tool = answer.call.route.tool
        expect(answer.code in codes, f"{tool} answered {answer.status} {answer.code} and not {' or '.join(codes)}")
        self._ledger.note(found(CODES[answer.code], True))
        return answer

    async def call(
        self,
        tool: str,
        *ids: str,
        query: Mapping[str, object] | None = None,
        body: Json = None,
        key: str | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Call a tool, whatever comes of it. A header of None is left out; a mutation without `key` gets a new one."""
        route = ROUTES[f"knowledge_{tool}"]
        call = Call(
            route=route,
            ids=dict(zip(_names(route), ids, strict=True)),
            query=query or {},
            body=body,
            most_items=self._most_items,
        )
        told = self._headers(route, key) | ({} if body is None else {"Content-Type": "application/json"})
        return await self._send(call, _path(call), told | dict(headers or {}), json=body)

    async def send(
        self, route: Route, path: str, *, content: bytes = b"", headers: Mapping[str, str | None] | None = None
    ) -> Answer:
        """Send bytes to a path, written as it shall stand on the wire."""
        return await self._send(
            Call(route=route, most_items=self._most_items),
            path,
            self._headers(route, None) | dict(headers or {}),
            content=content,
        )

    async def post(self, route: Route, body: Json) -> Answer:
        """Send JSON to a path that is no part of the contract."""
        call = Call(route=route, body=body, most_items=self._most_items)
        return await self._send(
            call, route.path, self._headers(route, None) | {"Content-Type": "application/json"}, json=body
        )

    async def upload(self, name: str, content: bytes) -> Answer:
        """Bring a file."""
        told = {"X-File-Name": quote(name, safe=""), "Content-Type": "application/octet-stream"}
        return await self.send(FILE_UPLOAD, FILE_UPLOAD.path, content=content, headers=told)

    async def fetch(self, url: str) -> httpx.Response:
        """Follow a download link, which needs nobody's credentials."""
        return await self._http.get(url)

    def _headers(self, route: Route, key: str | None) -> dict[str, str | None]:
        number = secrets.token_hex(8)
        told = hashlib.sha256(f"{self.user.session}\0{number}".encode()).hexdigest()
        return {
            "Authorization": f"Bearer {self.issuer.token}",
            "X-User-Assertion": self.issuer.assertion(self.user),
            "X-Harness-Session-Id": self.user.session,
            "X-Tool-Call-Id": f"call-{number}",
            "X-Request-Id": f"knowledge-{told[:32]}",
            "Accept": "application/json",
            "Idempotency-Key": (key or f"knowledge:{told}") if route.wants_key else None,
        }

    async def _send(
        self, call: Call, path: str, headers: Mapping[str, str | None], *, json: Json = None, content: bytes = b""
    ) -> Answer:
        response = await self._http.request(
            call.route.method,
            path,
            params={name: str(value) for name, value in call.query.items()} or None,
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value is not None],
            content=_encoded(json) if json is not None else content,
        )
        answer = Answer.of(call, response)
        self._look_at(answer)
        return answer

    def _look_at(self, answer: Answer) -> None:
        tool, is_clean = answer.call.route.tool, True
        for finding in look_at(answer):
            self._ledger.note(finding, f"{tool} {answer.status} {answer.code}".strip())
            is_clean = is_clean and finding.holds
        if answer.is_success and tool in CALLS:
            self._ledger.note(found(CALLS[tool], is_clean, "its answer breaks another rule"))


def _encoded(body: Json) -> bytes:
    return dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _names(route: Route) -> list[str]:
    return [part.partition("}")[0] for part in route.path.split("{")[1:]]


def _path(call: Call) -> str:
    path = call.route.path
    for name, value in call.ids.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=UNRESERVED))
    return path
