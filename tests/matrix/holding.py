"""What callers hold from before: links, keys of requests that were answered, files; and what is left of it all once
the grants are taken back.
"""

from itertools import product

import httpx

from shared.contracts import admin
from shared.contracts.admin_route import ADMIN_PREFIX
from tests.integration.api.harness import KNOWLEDGE, User
from tests.matrix.asking import CURRENT, NO_FILE, Ask
from tests.matrix.contract_places import CONTRACT_PLACES
from tests.matrix.people import GRANTED_GROUP, GRANTED_ROLE, SEEN_BY, WRITES, Relation, Role, Sight, caller
from tests.matrix.preparing import GRACE, OWNER, STRANGER, make_link
from tests.matrix.walking import ABSENT, FORBIDDEN, Walk, code_of, told
from tests.matrix.world import unknown

SEEING = sorted(SEEN_BY[Sight.DOCUMENT], key=lambda relation: relation.value)
REPLAY = "x-idempotent-replay"


async def walk_held(walk: Walk) -> None:
    """All of it; at the end nothing of the world is granted to anybody any more."""
    await _files_of_others(walk)
    await _keys_of_others(walk)
    links = {
        relation: await make_link(walk.gateway, walk.world.document, caller(Role.READER, relation))
        for relation in SEEING
    }
    for relation, link in links.items():
        answer = await _fetch(walk, link)
        if answer.status_code != 200:
            walk.wrong(f"download link, {relation.name}", answer)
    dead = await _fetch(walk, "/downloads/nonsense")
    _must_be(walk, "link to what is deleted", await _fetch(walk, walk.world.gone_link), dead)
    await _take_back(walk)
    for relation, link in links.items():
        _must_be(walk, f"link after the grant, {relation.name}", await _fetch(walk, link), dead)
    await _nothing_is_left(walk)


async def _fetch(walk: Walk, link: str) -> httpx.Response:
    walk.cases += 1
    return await walk.gateway.http.get(link)


def _must_be(walk: Walk, what: str, answer: httpx.Response, other: httpx.Response) -> None:
    if told(answer) != told(other) or REPLAY in answer.headers:
        walk.wrong(what, answer)


async def _files_of_others(walk: Walk) -> None:
    """A file in a body is its uploader's alone: any other is as good as none."""
    others = {
        "of somebody with the same grants": await walk.file_of(caller(Role.ADMIN, Relation.GRANTED_TO_GROUP)),
        "of the same name in the other tenant": await walk.file_of(STRANGER),
        "expired": walk.world.gone_file,
    }
    asks = (
        lambda file: Ask(
            method="POST",
            path=f"{KNOWLEDGE}/spaces/{walk.world.space}/documents",
            body={"fileResourceId": file, "documentName": "Stolen"},
        ),
        lambda file: Ask(
            method="POST",
            path=f"{KNOWLEDGE}/documents/{walk.world.document}:replace",
            body={"fileResourceId": file, "expectedVersion": CURRENT},
        ),
    )
    before = await walk.rows()
    for ask, (what, file) in product(asks, others.items()):
        absent = await walk.ask(ask(NO_FILE), GRACE)
        _must_be(walk, f"file {what}", await walk.ask(ask(file), GRACE), absent)
        if code_of(absent) != "FILE_NOT_FOUND":
            walk.wrong("file that is not there", absent)
    if await walk.rows() != before:
        walk.wrong("a file of somebody else was used")


async def _keys_of_others(walk: Walk) -> None:
    """An answer that was kept is repeated to its own caller alone, and to them only while they may see it."""
    key = "held-by-grace"
    ask = _rename(walk.world.document)
    first, again = await walk.ask(ask, GRACE, key), await walk.ask(ask, GRACE, key)
    if first.status_code != 200 or again.json()["data"] != first.json()["data"] or REPLAY not in again.headers:
        walk.wrong("replay", again)
    writers = sorted(WRITES & set(walk.roles))
    for role, relation in product(writers, (Relation.GRANTED_TO_GROUP, Relation.DOCUMENT_ALONE)):
        answer = await walk.ask(ask, caller(role, relation), key)
        if code_of(answer) != "DOCUMENT_VERSION_CONFLICT" or REPLAY in answer.headers:
            walk.wrong(f"key of somebody else, {role.value}, {relation.name}", answer)
    for role, relation in product(writers, (Relation.NOT_GRANTED, Relation.OTHER_DOMAIN, Relation.OTHER_TENANT)):
        await _as_unknown(walk, f"key, {role.value}, {relation.name}", caller(role, relation), key)
    await _as_unknown(walk, "key in a smaller role", caller(Role.READER, Relation.GRANTED_TO_USER), key)


async def _as_unknown(walk: Walk, what: str, user: User, key: str) -> None:
    absent = await walk.ask(_rename(unknown(walk.world.document)), user)
    _must_be(walk, what, await walk.ask(_rename(walk.world.document), user, key), absent)


def _rename(document: str) -> Ask:
    body = {"expectedVersion": CURRENT, "name": "Travel"}
    return Ask(method="PATCH", path=f"{KNOWLEDGE}/documents/{document}", body=body)


async def _take_back(walk: Walk) -> None:
    """Every grant on the world's space, by the admin API."""
    alone = caller(Role.READER, Relation.DOCUMENT_ALONE).subject
    world = walk.world
    taken = (
        {"principal": {"kind": "user", "name": GRACE.subject}},
        {"principal": {"kind": "group", "name": GRANTED_GROUP}},
        {"principal": {"kind": "role", "name": GRANTED_ROLE}},
        {"principal": {"kind": "user", "name": alone}, "documentId": world.document},
        {"principal": {"kind": "user", "name": alone}, "documentId": world.failed_document},
    )
    walk.tools.add(admin.GRANT_REVOKE.tool)
    for body in taken:
        path = f"{ADMIN_PREFIX}/spaces/{world.space}/grants:revoke"
        answer = await walk.ask(Ask(method="POST", path=path, body=body), OWNER)
        if answer.status_code != 200:
            walk.wrong("taking a grant back", answer)


async def _nothing_is_left(walk: Walk) -> None:
    """Who could see or do something a moment ago gets what an unknown id gets."""
    for place, role, relation in product(CONTRACT_PLACES, walk.roles, SEEING):
        await walk.refused(place, role, relation, ABSENT if role in place.may_ask else FORBIDDEN)
    user = caller(Role.ADMIN, Relation.GRANTED_TO_USER)
    await _as_unknown(walk, "key after the grant", user, "held-by-grace")
    found = await walk.ask(Ask(method="POST", path=f"{KNOWLEDGE}/search", body={"query": "hotel"}), user)
    if found.status_code != 200 or found.json()["data"]["hits"]:
        walk.wrong("search after the grant", found)
