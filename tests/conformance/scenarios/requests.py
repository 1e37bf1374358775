"""What a request must be: bodies and queries by their schemas, headers, paths."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import expect
from tests.conformance.contract import ROUTES, Route
from tests.conformance.scenarios.acts import new_document, new_space, space_request
from tests.conformance.scenarios.mutants import mutants
from tests.conformance.scenarios.scenario import Scenario, World, rule

INVALID: Final = "KNOWLEDGE_INVALID_INPUT"
UNAUTHENTICATED: Final = "KNOWLEDGE_UNAUTHENTICATED"
METADATA: Final = ("KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED", "KNOWLEDGE_METADATA_VALUE_INVALID")
FILTER: Final = ("KNOWLEDGE_METADATA_FILTER_FIELD_NOT_ALLOWED", "KNOWLEDGE_METADATA_VALUE_INVALID")

LOCK: Final = {"expectedVersion": 0}
REASON: Final = {"reason": "no longer needed"}
FILE: Final = {"fileResourceId": "frs_of_nobody"}

BODIES: Final[Mapping[str, Json]] = {
    "knowledge_space_create": space_request("never-made", description="text"),
    "knowledge_space_update": {"expectedVersion": 1, "name": "name", "description": "text"},
    "knowledge_space_delete": {"expectedVersion": 1} | REASON,
    "knowledge_document_upload": {**FILE, "documentName": "name", "metadata": {"category": "a", "tags": ["b"]}},
    "knowledge_document_update": {**LOCK, "name": "name", "metadata": {"category": "a", "tags": ["b"]}},
    "knowledge_document_replace": {**FILE, **LOCK, **REASON},
    "knowledge_document_enable": LOCK | REASON,
    "knowledge_document_disable": LOCK | REASON,
    "knowledge_document_reindex": LOCK | REASON,
    "knowledge_document_delete": LOCK | REASON,
    "knowledge_document_download": {},
    "knowledge_search": {"query": "words", "limit": 8, "metadataFilter": {"tagsAny": ["b"]}},
    "knowledge_operation_cancel": REASON,
    "knowledge_operation_retry": REASON,
}
"""A body that each route's schema allows, from which wrong ones are made. None of them is ever sent as it is."""

QUERIES: Final[Mapping[str, Sequence[Mapping[str, object]]]] = {
    "ListQuery": (
        {"page": 0},
        {"page": -1},
        {"page": "one"},
        {"page": "1.5"},
        {"page": ""},
        {"pageSize": 0},
        {"pageSize": 101},
        {"limit": 5},
        {"cursor": "next"},
    ),
    "CitationContextQuery": (
        {"contextBefore": -1},
        {"contextAfter": 5001},
        {"contextAfter": "all"},
        {"contextBefore": ""},
        {"context": 5},
    ),
}


async def refuses_bodies(route: Route, world: World) -> None:
    """Every wrong body is refused before it is looked at what the path names."""
    client, name = world.speaker, route.tool.removeprefix("knowledge_")
    ids = ["of-nobody"] * route.path.count("{")
    sent = 0
    for what, body in mutants(str(route.request), BODIES[route.tool]):
        if body is None:
            continue  # no body at all is another request
        answer = await client.call(name, *ids, body=body)
        wanted = FILTER if ".metadataFilter" in what else METADATA if ".metadata" in what else (INVALID,)
        expect(answer.code in wanted, f"{what}: {answer.status} {answer.code} and not {' or '.join(wanted)}")
        client.must_be(wanted, answer)
        expect(bool(answer.error["fieldErrors"]), f"{what}: no field is named")
        sent += 1
    expect(sent > 0, "no wrong body was made")


async def refuses_queries(route: Route, world: World) -> None:
    """Every wrong query is refused."""
    client, name = world.speaker, route.tool.removeprefix("knowledge_")
    ids = ["of-nobody"] * route.path.count("{")
    for query in QUERIES[str(route.query)]:
        answer = await client.call(name, *ids, query=query)
        expect(answer.code in {INVALID, "INVALID_CONTEXT_RANGE"}, f"{query}: {answer.status} {answer.code}")


BODY_SCENARIOS: Final = tuple(
    Scenario(f"BODY {route.tool} takes what {route.request} allows and nothing else", partial(refuses_bodies, route))
    for route in ROUTES.values()
    if route.request is not None
)
QUERY_SCENARIOS: Final = tuple(
    Scenario(f"QUERY {route.tool} takes what {route.query} allows and nothing else", partial(refuses_queries, route))
    for route in ROUTES.values()
    if route.query is not None
)


@rule("HEAD each of the five headers of a caller is needed, on every route")
async def needs_every_header(world: World) -> None:
    for name in ("Authorization", "X-User-Assertion", "X-Harness-Session-Id", "X-Tool-Call-Id", "X-Request-Id"):
        await world.speaker.refused(UNAUTHENTICATED, "space_list", headers={name: None})
    for route in ROUTES.values():
        ids = ["of-nobody"] * route.path.count("{")
        await world.speaker.refused(
            UNAUTHENTICATED, route.tool.removeprefix("knowledge_"), *ids, headers={"Authorization": None}
        )


@rule("HEAD a caller's headers are printable ASCII of the contract's length")
async def needs_clean_headers(world: World) -> None:
    for name, longest in (("X-Harness-Session-Id", 256), ("X-Tool-Call-Id", 256), ("X-Request-Id", 256)):
        for value in ("", "a b", "caf\u00e9", "x" * (longest + 1)):
            await world.speaker.refused(UNAUTHENTICATED, "space_list", headers={name: value})
    await world.speaker.refused(UNAUTHENTICATED, "space_list", headers={"X-User-Assertion": "x" * 8193})


@rule("HEAD a request id of 256 characters is taken, and none of more than 128 comes back")
async def takes_long_request_ids(world: World) -> None:
    answer = await world.speaker.call("space_list", headers={"X-Request-Id": "r" * 256})

    expect(answer.status == 200, f"it answered {answer.status}")
    expect(len(answer.meta["requestId"]) <= 128, "all of it came back")


@rule("HEAD a request id that comes twice is two requests, as a client that reads again sends it")
async def takes_request_ids_twice(world: World) -> None:
    for _ in range(2):
        answer = await world.speaker.call("space_list", headers={"X-Request-Id": "twice", "X-Tool-Call-Id": "twice"})
        expect((answer.status, answer.meta["requestId"]) == (200, "twice"), f"it answered {answer.status}")


@rule("HEAD each of the twelve mutations needs an idempotency key of 1 to 128 characters")
async def needs_keys(world: World) -> None:
    keyed = [route for route in ROUTES.values() if route.wants_key]
    expect(len(keyed) == 12, f"there are {len(keyed)}")
    for route in keyed:
        ids = ["of-nobody"] * route.path.count("{")
        for key in (None, "", "k" * 129, "a b"):
            await world.speaker.refused(
                INVALID,
                route.tool.removeprefix("knowledge_"),
                *ids,
                body=BODIES[route.tool],
                headers={"Idempotency-Key": key},
            )


@rule("BODY a body is JSON and says so")
async def needs_json(world: World) -> None:
    client, route = world.speaker, ROUTES["knowledge_search"]
    for content_type in (None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"):
        answer = await client.send(
            route, route.path, content=b'{"query":"words"}', headers={"Content-Type": content_type}
        )
        client.must_be("UNSUPPORTED_MEDIA_TYPE", answer)
    for content in (b"", b"{", b'{"query":NaN}', b'{"query":"words"} more', b"\xff\xfe", b'{"query":"\xff"}', b"null"):
        answer = await client.send(route, route.path, content=content, headers={"Content-Type": "application/json"})
        client.must_be(INVALID, answer)


@rule("BODY a body is read no further than any request needs")
async def refuses_long_bodies(world: World) -> None:
    client, route = world.speaker, ROUTES["knowledge_search"]
    answer = await client.send(
        route, route.path, content=b" " * 1_000_000, headers={"Content-Type": "application/json"}
    )
    client.must_be("REQUEST_TOO_LARGE", answer)


@rule("BODY a character outside the first plane counts as one")
async def counts_code_points(world: World) -> None:
    created = await world.speaker.ask("space_create", body=space_request(name="𝄞" * 128, description="𝄞" * 1000))
    expect(created["name"] == "𝄞" * 128, "the name came back changed")


@rule("PATH what is unknown or asked for in the wrong way is told in the envelope")
async def envelops_what_is_unknown(world: World) -> None:
    client = world.speaker
    knowledge = ROUTES["knowledge_space_list"]
    for path in ("/internal/v1/knowledge/nothing", "/internal/v1/knowledge", "/internal/v1/knowledge/spaces/"):
        client.must_be(("KNOWLEDGE_NOT_FOUND", "SPACE_NOT_FOUND"), await client.send(knowledge, path))
    for method in ("PUT", "DELETE", "OPTIONS"):
        answer = await client.send(replace(knowledge, method=method), knowledge.path)
        client.must_be("METHOD_NOT_ALLOWED", answer)


@rule("PATH an action is told from an id by the colon that stands in the path as it is")
async def tells_actions_from_ids(world: World) -> None:
    client = world.speaker
    for odd in ("a:disable", "a/b", "a%b", "文档", "a b:c/d"):
        await client.refused("DOCUMENT_NOT_FOUND", "document_get", odd)
        await client.refused("DOCUMENT_NOT_FOUND", "document_disable", odd, body=LOCK)
    route = ROUTES["knowledge_document_disable"]
    encoded = route.path.replace("{documentId}:", "x%3A")
    client.must_be("METHOD_NOT_ALLOWED", await client.send(route, encoded, content=b"{}"))


@rule("PATH ids that the gateway makes stand in a path as they are")
async def makes_plain_ids(world: World) -> None:
    space_id = await new_space(world.speaker)
    document_id = await new_document(world.speaker, space_id)
    for made in (space_id, document_id):
        expect(made.replace("-", "").replace("_", "").isalnum() and made.isascii(), made)


SCENARIOS: Final = (
    *BODY_SCENARIOS,
    *QUERY_SCENARIOS,
    needs_every_header,
    needs_clean_headers,
    takes_long_request_ids,
    takes_request_ids_twice,
    needs_keys,
    needs_json,
    refuses_long_bodies,
    counts_code_points,
    envelops_what_is_unknown,
    tells_actions_from_ids,
    makes_plain_ids,
)
