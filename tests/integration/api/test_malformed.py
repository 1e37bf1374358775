"""Requests that no client of ours would send: never our failure, always the envelope."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.types import Message

from shared.contracts.admin import ACCOUNT_PUT, ADMIN_ROUTES, GRANT_ADD, GRANT_LIST, REVOCATION_CREATE
from shared.contracts.envelope import ErrorEnvelope
from shared.contracts.route import Route
from shared.contracts.routes import DOCUMENT_DOWNLOAD, DOCUMENT_UPLOAD, ROUTES, SEARCH, SPACE_LIST
from tests.integration.api.harness import Gateway

WITH_BODY = [route for route in (*ROUTES, GRANT_ADD, ACCOUNT_PUT, REVOCATION_CREATE) if route.request is not None]
WITH_QUERY = [route for route in (*ROUTES, GRANT_LIST) if route.taken_query is not None] + [SEARCH, DOCUMENT_UPLOAD]

_PATH_ID = re.compile(r"\{\w+\}")
DEEP = 1000
BODIES = {
    "nothing": b"",
    "white space": b" \n\t",
    "bad UTF-8": b'{"reason": "\xff\xfe"}',
    "overlong UTF-8": b'{"reason": "\xc0\x80"}',
    "a surrogate in UTF-8": b'{"reason": "\xed\xa0\x80"}',
    "a lone surrogate": rb'{"reason": "\ud800", "query": "\udfff"}',
    "U+0000": rb'{"reason": "\u0000", "name": "\u0000", "query": "\u0000"}',
    "a raw control character": b'{"reason": "\x00\x01"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"reason": "x"}'.encode("utf-16"),
    "NaN": b'{"expectedVersion": NaN, "limit": NaN}',
    "infinity": b'{"expectedVersion": Infinity, "limit": -Infinity}',
    "a number beyond all bounds": b'{"expectedVersion": 1e400, "limit": 1e400}',
    "a number of a thousand digits": b'{"expectedVersion": %s, "limit": 1}' % (b"9" * 1000),
    "a number beyond JavaScript": b'{"expectedVersion": 9007199254740993}',
    "a number with a fraction": b'{"expectedVersion": 1.5, "limit": 1.0000000001}',
    "a negative zero": b'{"expectedVersion": -0, "limit": -0.0}',
    "twice the same key": b'{"expectedVersion": 1, "expectedVersion": 99, "reason": "a", "reason": "b"}',
    "deep arrays": b'{"metadata": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"metadata": ' + b'{"tags":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "deep filters": b'{"query": "x", "metadataFilter": ' + b'{"category":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "arrays that never end": b"[" * 100_000,
    "a prototype": b'{"__proto__": {"reason": "x"}, "constructor": 1}',
    "a scalar": b"42",
    "null": b"null",
    "text": b'"text"',
    "an array": b"[{}]",
    "something behind the end": b'{"reason": "x"} {"reason": "y"}',
    "a comment": b'{"reason": "x" /* y */}',
    "single quotes": b"{'reason': 'x'}",
    "an empty key": b'{"": 1}',
    "a key of many characters": json.dumps({"k" * 100_000: 1}).encode(),
    "many keys": json.dumps({f"k{number}": number for number in range(5000)}).encode(),
    "text of many characters": json.dumps({"reason": "x" * 200_000}).encode(),
    "null everywhere": json.dumps(
        dict.fromkeys(("name", "reason", "metadata", "expectedVersion", "query", "fileResourceId", "principal"))
    ).encode(),
    "wrong types everywhere": json.dumps(
        {"name": [], "reason": {}, "metadata": "x", "expectedVersion": "1", "query": 1, "principal": [1]}
    ).encode(),
}
QUERIES = (
    b"page=%ff",
    b"page=%00",
    b"page=\xff",
    b"page=",
    b"page",
    b"=1",
    b"&&&&",
    b"page=1&page=1",
    b"page=1;pageSize=2",
    b"page=-0",
    b"page=+1",
    b"page=1e3",
    b"page=1.0",
    b"page=%D9%A3",
    b"page=0x10",
    b"page=9007199254740991",
    b"page=9007199254740991&pageSize=100",
    b"page=99999999999999999999999999",
    b"pageSize=101",
    b"page[]=1",
    b"page=%u0031",
    b"after=%00",
    b"after=%ed%a0%80",
    b"after=" + b"x" * 300,
    b"cursor=" + b"x" * 60_000,
    b"%00=%00",
    b"contextBefore=1e1",
    b"wait=NaN",
    b"wait=1e309",
    b"wait=-1",
    b"wait=0&wait=0",
    b"?",
    b"#",
)
SEGMENTS = (
    "%00",
    "%ff",
    "%ed%a0%80",
    "%2F",
    "%252F",
    "%2e%2e",
    "..",
    ".",
    "%",
    "%zz",
    "%2",
    "%20",
    "+",
    ";a=b",
    "a%0d%0aX-Evil:%201",
    "%3A",
    "%3Adelete",
    ":",
    "::",
    ":delete:delete",
    "x:unknown",
    "x:DELETE",
    "x%3Adelete",
    "x:del%65te",
    "{documentId}",
    "__proto__",
    "%F0%9F%98%80",
    "%E3%80%80",
    "x" * 257,
    "%E5%AD%97" * 256,
    "x" * 8000,
    "'%20OR%201=1--",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY", "get", "BREW")
VALUES: Mapping[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "blank": b" ",
    "too long": b"x" * 9000,
    "not ASCII": "schlüssel".encode(),
    "not UTF-8": b"\xff\xfe",
    "control characters": b"a\x00b\x07",
    "a tab": b"a\tb",
    "a comma": b"a,b",
    "quotes": b'"a" \\',
    "another scheme": b"Basic YTpi",
    "only a scheme": b"Bearer",
    "two tokens": b"Bearer a b",
    "three parts": b"Bearer a.b.c",
    "an unsigned assertion": b"eyJhbGciOiJub25lIn0.e30.",
    "a number": b"-1",
    "a percent": b"%00",
}
HEADERS = (
    "authorization",
    "x-user-assertion",
    "x-harness-session-id",
    "x-tool-call-id",
    "x-request-id",
    "idempotency-key",
    "content-type",
    "content-length",
    "content-encoding",
    "accept",
    "host",
    "traceparent",
    "last-event-id",
    "range",
    "x-file-name",
    "x-http-method-override",
)
CONTENT_TYPES = (
    b"text/plain",
    b"application/xml",
    b"multipart/form-data; boundary=x",
    b"application/json; charset=latin-1",
    b"application/jsonp",
    b"*/*",
    b"json",
    b";",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes


async def send(
    gateway: Gateway,
    method: str,
    path: str,
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes = b"",
    query: bytes = b"",
) -> Answered:
    """One request, exactly as it is given: a client would put its path and headers in order first."""
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": list(headers),
        "client": ("127.0.0.1", 1),
        "server": ("gateway", 80),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def take(message: Message) -> None:
        sent.append(message)

    await gateway.app(scope, receive, take)
    answered = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return Answered(status=sent[0]["status"], headers=answered, content=content)


def headers_of(gateway: Gateway, **changed: str | None) -> list[tuple[bytes, bytes]]:
    """Good headers."""
    named = gateway.headers(content_type="application/json", idempotency_key=f"key-{next(gateway.numbers)}", **changed)
    return [(name.encode(), value.encode()) for name, value in named.items()]


def fault_of(answer: Answered) -> str | None:
    """What is wrong with an answer; None when it is in order, be it a success or not."""
    if answer.status >= 500:
        return f"{answer.status} {answer.content[:200]!r}"
    if answer.headers["content-type"] != "application/json" or answer.headers["cache-control"] != "no-store":
        return f"headers {answer.headers}"
    envelope = json.loads(answer.content)
    if answer.status >= 400:
        checked = ErrorEnvelope.model_validate_json(answer.content)
        is_same = answer.headers["x-request-id"] == checked.meta.request_id
        return None if is_same and len(answer.content) <= 65_536 else "request id or length"
    return None if envelope.keys() == {"data", "meta"} and envelope["meta"]["success"] else "no envelope"


def told(what: str, answer: Answered) -> list[str]:
    """What is wrong, and with what; nothing when the answer is in order."""
    fault = fault_of(answer)
    return [] if fault is None else [f"{what}: {fault}"]


async def targets(gateway: Gateway) -> dict[str, str]:
    """Ids that name something, by the name of the path's part."""
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id)
    await gateway.work()
    return {
        "spaceId": space_id,
        "documentId": accepted["documentId"],
        "operationId": accepted["operationId"],
        "citationId": "none",
        "subject": "victor",
        "tokenId": "tok_1",
        "letterId": "ltr_1",
        "reconciliationId": "rec_1",
    }


async def test_no_body_is_too_strange_for_an_answer(gateway: Gateway) -> None:
    ids = await targets(gateway)
    faults: list[str] = []
    for route, (what, body) in product(WITH_BODY, BODIES.items()):
        answer = await send(gateway, route.method, route.path.format_map(ids), headers_of(gateway), body)
        faults += told(f"{route.tool}, {what}", answer)
    assert faults == []


async def test_no_query_string_is_too_strange_for_an_answer(gateway: Gateway) -> None:
    ids = await targets(gateway)
    faults: list[str] = []
    for route, query in product(WITH_QUERY, QUERIES):
        answer = await send(gateway, route.method, route.path.format_map(ids), headers_of(gateway), b"{}", query)
        faults += told(f"{route.tool} ?{query!r}", answer)
    assert faults == []


async def test_no_path_is_too_strange_for_an_answer(gateway: Gateway) -> None:
    faults: list[str] = []
    for route, segment in product(ROUTES, SEGMENTS):
        path = _PATH_ID.sub(segment, route.path)
        answer = await send(gateway, route.method, path, headers_of(gateway), b"{}")
        faults += told(f"{route.tool} {segment}", answer)
    assert faults == []


async def test_no_method_is_too_strange_for_an_answer(gateway: Gateway) -> None:
    ids = await targets(gateway)
    by_path: dict[str, set[str]] = {}
    for route in (*ROUTES, *ADMIN_ROUTES):
        by_path.setdefault(route.path, set()).add(route.method)
    faults: list[str] = []
    for path, known in by_path.items():
        for method in METHODS:
            if method in known:
                continue
            answer = await send(gateway, method, path.format_map(ids), headers_of(gateway), b"{}")
            fault = fault_of(answer) if answer.status == 405 else f"{answer.status}"
            faults += [f"{method} {path}: {fault}"] if fault is not None else []
    assert faults == []


@pytest.mark.parametrize("route", [SPACE_LIST, SEARCH, DOCUMENT_DOWNLOAD], ids=lambda route: route.tool)
async def test_no_header_is_too_strange_for_an_answer(gateway: Gateway, route: Route) -> None:
    path = route.path.format_map(await targets(gateway))
    faults: list[str] = []
    for name in HEADERS:
        good = [(key, value) for key, value in headers_of(gateway) if key != name.encode()]
        for what, value in VALUES.items():
            given = [] if value is None else [(name.encode(), value)]
            for times in (1, 2):
                answer = await send(gateway, route.method, path, good + given * times, b"{}")
                faults += told(f"{name}, {what}", answer)
    assert faults == []


async def test_no_content_type_is_too_strange_for_an_answer(gateway: Gateway) -> None:
    path = SEARCH.path
    faults: list[str] = []
    for content_type in CONTENT_TYPES:
        good = [(key, value) for key, value in headers_of(gateway) if key != b"content-type"]
        answer = await send(gateway, "POST", path, [*good, (b"content-type", content_type)], b"{}")
        faults += told(f"{content_type!r}", answer)
        if answer.status != 415:
            faults.append(f"{content_type!r}: {answer.status}")
    assert faults == []
