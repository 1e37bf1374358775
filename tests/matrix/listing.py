"""What shows things that nobody has named: lists with their totals, searches without ids, the stream of events."""

import re
from collections.abc import Iterator, Set
from itertools import product

from sqlalchemy import Connection

from shared.contracts import routes
from shared.contracts.transition_events import EVENTS_FOLLOW, LAST_EVENT_ID
from shared.database.sql import run
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.api.harness import KNOWLEDGE
from tests.integration.api.streaming import asked
from tests.matrix.asking import Ask
from tests.matrix.people import READS, REAL, SEEN_BY, Relation, Role, Sight, caller
from tests.matrix.preparing import QUERY
from tests.matrix.walking import Walk
from tests.matrix.world import World

_RESOURCE = re.compile(rb'"resourceId":"([^"]+)"')


async def walk_lists(walk: Walk) -> None:
    """Every list, for every caller of every relation."""
    walk.tools |= {route.tool for route in (routes.SPACE_LIST, routes.DOCUMENT_LIST, routes.SEARCH)}
    for role, relation in product(walk.roles, REAL):
        await _one_list(walk, role, relation, "GET", "/spaces", _spaces_of(walk.world, relation), "spaceId")
        documents = _documents_of(walk.world, relation)
        if documents:
            path = f"/spaces/{walk.world.space}/documents"
            await _one_list(walk, role, relation, "GET", path, documents, "documentId")
        found = documents & {walk.world.document, walk.world.sibling}
        await _one_list(walk, role, relation, "POST", "/search", found, "documentId")


async def _one_list(
    walk: Walk, role: Role, relation: Relation, method: str, path: str, expected: Set[str], key: str
) -> None:
    body = {"query": QUERY} if method == "POST" else None
    answer = await walk.ask(Ask(method=method, path=KNOWLEDGE + path, body=body), caller(role, relation))
    content = answer.json()
    if role not in READS or answer.status_code != 200:
        is_right = role not in READS and answer.status_code == 403 and content["data"] is None
    else:
        items = content["data"].get("items", content["data"].get("hits"))
        pagination = content["meta"]["pagination"]
        is_right = {item[key] for item in items} == expected
        is_right &= pagination is None or pagination["totalItems"] == len(items) == len(expected)
    if not is_right:
        walk.wrong(f"{path}, {role.value or 'no role'}, {relation.name}", answer)


def _spaces_of(world: World, relation: Relation) -> Set[str]:
    match relation:
        case Relation.OTHER_TENANT:
            return {world.other_space}
        case Relation.OTHER_DOMAIN:
            return {world.secret_beacon}
        case _ if relation in SEEN_BY[Sight.SPACE]:
            return {world.space, world.beacon}
        case _:
            return {world.beacon}


def _documents_of(world: World, relation: Relation) -> Set[str]:
    """In the granted space."""
    if relation in SEEN_BY[Sight.SPACE]:
        return {world.document, world.sibling, world.failed_document, world.running_document}
    return {world.document, world.failed_document} if relation is Relation.DOCUMENT_ALONE else set()


async def walk_events(walk: Walk) -> None:
    """The stream from its beginning, up to something that the caller may see for certain."""
    walk.tools.add(EVENTS_FOLLOW.tool)
    await _seal(walk)
    owners = await walk.gateway.parts.database.read(lambda conn: dict(_owners(conn)))
    for role, relation in product(walk.roles, REAL):
        walk.cases += 1
        end = _last_seen(walk.world, relation)
        headers = walk.headers(caller(role, relation)) | {LAST_EVENT_ID.lower(): "0"}
        async with asked(walk.gateway.app, EVENTS_FOLLOW.path, headers) as stream:
            await stream.begin()
            content = await stream.body_until(end.encode())
        told = {name.decode() for name in _RESOURCE.findall(content + stream.rest())}
        if role not in READS:
            is_right = stream.status == 403 and not told
        else:
            seen = _documents_of(walk.world, relation)
            is_right = stream.status == 200 and seen <= told
            is_right &= all(_may_be_told(walk.world, relation, *owners[name]) for name in told)
        if not is_right:
            walk.wrong(f"events, {role.value or 'no role'}, {relation.name}: {stream.status} {sorted(told)}")


async def _seal(walk: Walk) -> None:
    """As it is done beside the projector."""
    now, database = walk.gateway.clock(), walk.gateway.parts.database
    while (await database.write(lambda conn: seal_audit(conn, now, limit=500))).entries:
        pass


def _last_seen(world: World, relation: Relation) -> str:
    """Of the things that the caller may see, the one that was made last."""
    match relation:
        case Relation.OTHER_TENANT:
            return world.other_space
        case Relation.OTHER_DOMAIN:
            return world.secret_beacon
        case _ if relation in SEEN_BY[Sight.SPACE]:
            return world.running_document
        case Relation.DOCUMENT_ALONE:
            return world.failed_document
        case _:
            return world.beacon


def _may_be_told(world: World, relation: Relation, space: str, document: str | None) -> bool:
    if space in _spaces_of(world, relation):
        return True
    if space == world.gone_space:
        return relation in SEEN_BY[Sight.SPACE]
    return relation is Relation.DOCUMENT_ALONE and document in {world.document, world.failed_document}


def _owners(conn: Connection) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Of each thing that events are about, the space and the document that it belongs to."""
    for text in (
        "SELECT id, id, NULL FROM space",
        "SELECT id, space_id, id FROM document",
        "SELECT id, space_id, document_id FROM document_version",
        "SELECT id, space_id, document_id FROM operation",
    ):
        for name, space, document in run(conn, text):
            yield name, (space, document)
