"""Grants over the admin API: what is granted is there at once, and what is taken back is gone at once, everywhere."""

from dataclasses import replace

import httpx
import pytest

from tests.integration.api.administrating import ROOT, admin_get, admin_post, administered, principal
from tests.integration.api.harness import ALICE, BOB, TRAVEL, Gateway, User, checked_error
from tests.integration.api.test_audit import written

ERIN = User(subject="erin", roles=("knowledge-maintainer",), groups=("editors",))
EDITORS = principal("group", "editors")
SECRET_ROOT = replace(ROOT, domains=("secret",))
OTHER_ROOT = replace(ROOT, tenant="globex")


async def test_a_grant_is_answered_listed_and_taken_back(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    path = f"/spaces/{space_id}/grants"

    granted = await administered(gateway, path, {"principal": EDITORS})

    assert granted == {
        "spaceId": space_id,
        "principal": EDITORS,
        "createdBy": "root",
        "createdAt": "2031-05-06T07:08:09.000Z",
    }
    listed = (await admin_get(gateway, path)).json()
    assert sorted(item["principal"]["name"] for item in listed["data"]["items"]) == ["alice", "editors"]
    assert listed["meta"]["pagination"]["totalItems"] == 2

    taken = await administered(gateway, f"{path}:revoke", {"principal": EDITORS})
    assert taken == granted
    assert (await admin_get(gateway, path)).json()["meta"]["pagination"]["totalItems"] == 1


async def test_granting_again_answers_what_there_is(gateway: Gateway) -> None:
    path = f"/spaces/{await gateway.make_space()}/grants"
    first = await administered(gateway, path, {"principal": EDITORS})

    answer = await admin_post(gateway, path, {"principal": EDITORS}, replace(ROOT, subject="other-root"))

    assert answer.status_code == 200
    assert answer.json()["data"] == first


async def test_what_is_not_granted_cannot_be_taken_back(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    document_id = await gateway.make_document(space_id)
    path = f"/spaces/{space_id}/grants:revoke"

    for body in (
        {"principal": EDITORS},
        {"principal": principal("group", "alice")},
        {"principal": principal("user", "alice"), "documentId": document_id},
        {"principal": principal("user", "alice"), "documentId": "doc_0"},
    ):
        error = checked_error(await admin_post(gateway, path, body), 404, "KNOWLEDGE_NOT_FOUND")
        assert error["message"] == "This is not granted to this user, group or role."


@pytest.mark.parametrize("who", [SECRET_ROOT, OTHER_ROOT], ids=["other domain", "other tenant"])
async def test_a_space_that_is_not_ones_own_to_manage_is_unknown(gateway: Gateway, who: User) -> None:
    path = f"/spaces/{await gateway.make_space()}/grants"

    checked_error(await admin_get(gateway, path, who), 404, "SPACE_NOT_FOUND")
    for action in ("", ":revoke"):
        answer = await admin_post(gateway, path + action, {"principal": EDITORS}, who)
        checked_error(answer, 404, "SPACE_NOT_FOUND")
    checked_error(await admin_post(gateway, "/spaces/spc_0/grants", {"principal": EDITORS}), 404, "SPACE_NOT_FOUND")


async def test_a_document_of_another_space_is_unknown(gateway: Gateway) -> None:
    space_id, other = await gateway.make_space(), await gateway.make_space("other")
    document_id = await gateway.make_document(other)

    for unknown in (document_id, "doc_0"):
        body = {"principal": EDITORS, "documentId": unknown}
        answer = await admin_post(gateway, f"/spaces/{space_id}/grants", body)
        checked_error(answer, 404, "DOCUMENT_NOT_FOUND")


@pytest.mark.parametrize("who", [ALICE, BOB, ERIN])
async def test_a_grant_does_not_let_one_grant(gateway: Gateway, who: User) -> None:
    path = f"/spaces/{await gateway.make_space()}/grants"

    checked_error(await admin_get(gateway, path, who), 403, "KNOWLEDGE_FORBIDDEN")
    for action in ("", ":revoke"):
        answer = await admin_post(gateway, path + action, {"principal": EDITORS}, who)
        checked_error(answer, 403, "KNOWLEDGE_FORBIDDEN")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "$.principal"),
        ({"principal": {"kind": "robot", "name": "x"}}, "$.principal.kind"),
        ({"principal": {"kind": "user", "name": ""}}, "$.principal.name"),
        ({"principal": {"kind": "user", "name": "a\0b"}}, "$.principal.name"),
        ({"principal": EDITORS, "documentId": None}, "$.documentId"),
        ({"principal": EDITORS, "spaceId": "spc_1"}, "$.spaceId"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(gateway: Gateway, body: dict[str, object], field: str) -> None:
    error = checked_error(await admin_post(gateway, "/spaces/spc_1/grants", body), 422, "KNOWLEDGE_INVALID_INPUT")

    assert [fault["field"] for fault in error["fieldErrors"]] == [field]


async def test_every_change_needs_a_key_and_takes_effect_once(gateway: Gateway) -> None:
    path = f"/spaces/{await gateway.make_space()}/grants"
    keyless = await gateway.http.post(f"/admin/v1{path}", headers=gateway.headers(ROOT), json={"principal": EDITORS})
    checked_error(keyless, 422, "KNOWLEDGE_INVALID_INPUT")

    await admin_post(gateway, path, {"principal": EDITORS}, key="g-1")
    await administered(gateway, f"{path}:revoke", {"principal": EDITORS})
    again = await admin_post(gateway, path, {"principal": EDITORS}, key="g-1")

    assert again.headers["x-idempotent-replay"] == "true"
    assert (await admin_get(gateway, path)).json()["meta"]["pagination"]["totalItems"] == 1


async def test_access_is_managed_without_a_broker(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    gateway.broker.is_there = False
    gateway.seconds[0] += 3600

    await administered(gateway, f"/spaces/{space_id}/grants", {"principal": EDITORS})
    await administered(gateway, "/accounts/erin:disable", {})
    await administered(gateway, f"/spaces/{space_id}:disable", {"reason": "audit"})


async def test_changes_and_reads_of_access_are_audited_with_who_and_what(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    path = f"/spaces/{space_id}/grants"

    await administered(gateway, path, {"principal": EDITORS})
    await administered(gateway, f"{path}:revoke", {"principal": EDITORS})
    await admin_get(gateway, path)

    for action in ("ACCESS_GRANT", "ACCESS_REVOKE"):
        (entry,) = await written(gateway, action)
        assert (entry["subject"], entry["outcome"]) == ("root", "done")
        assert (entry["resource_type"], entry["resource_id"]) == ("SPACE", space_id)
        assert entry["details"] == '{"principal":"group:editors"}'
    (read,) = await written(gateway, "admin_grant_list")
    assert (read["subject"], read["resource_id"]) == ("root", space_id)


async def test_a_space_is_disabled_and_enabled_by_those_who_manage_spaces(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    disabled = await administered(gateway, f"/spaces/{space_id}:disable", {"reason": "audit"})
    assert (disabled["spaceId"], disabled["status"]) == (space_id, "DISABLED")
    search = {"query": "x", "knowledgeSpaceIds": [space_id]}
    checked_error(await gateway.post("/search", search), 403, "SPACE_DISABLED")

    enabled = await administered(gateway, f"/spaces/{space_id}:enable", {})
    assert enabled["status"] == "ACTIVE"
    checked_error(await admin_post(gateway, f"/spaces/{space_id}:disable", {}, ALICE), 403, "KNOWLEDGE_FORBIDDEN")
    checked_error(await admin_post(gateway, f"/spaces/{space_id}:disable", {}, OTHER_ROOT), 404, "SPACE_NOT_FOUND")


async def look(gateway: Gateway, seen: "Seen") -> dict[str, int | str]:
    """What Erin gets, asked for everything in every way there is."""
    space, document, operation = seen.space_id, seen.document_id, seen.operation_id
    stale = {"fileResourceId": seen.file_id, "expectedVersion": 99}
    listed = (await gateway.get("/spaces", ERIN)).json()["data"]["items"]
    found = await gateway.post("/search", {"query": "hotel night"}, ERIN)
    answers: dict[str, httpx.Response] = {
        "space": await gateway.get(f"/spaces/{space}", ERIN),
        "documents": await gateway.get(f"/spaces/{space}/documents", ERIN),
        "document": await gateway.get(f"/documents/{document}", ERIN),
        "operation": await gateway.get(f"/operations/{operation}", ERIN),
        "citation": await gateway.get(f"/citations/{seen.citation_id}", ERIN),
        "link": await gateway.post(f"/documents/{document}:create-download-link", {}, ERIN),
        "download": await gateway.http.get(seen.link),
        "upload": await gateway.post(
            f"/spaces/{space}/documents", {"fileResourceId": seen.file_id, "documentName": "B"}, ERIN, key=seen.key
        ),
        "replacement": await gateway.post(f"/documents/{document}:replace", stale, ERIN),
    }
    return {
        "listed": len(listed),
        "hits": len(found.json()["data"]["hits"]),
        **{name: answer.status_code for name, answer in answers.items()},
    }


EVERYTHING = {
    "listed": 1,
    "hits": 1,
    "space": 200,
    "documents": 200,
    "document": 200,
    "operation": 200,
    "citation": 200,
    "link": 200,
    "download": 200,
    "upload": 202,
    "replacement": 409,
}
NOTHING = {
    "listed": 0,
    "hits": 0,
    "space": 404,
    "documents": 404,
    "document": 404,
    "operation": 404,
    "citation": 404,
    "link": 404,
    "download": 404,
    "upload": 404,
    "replacement": 404,
}
ONE_DOCUMENT = EVERYTHING | {"listed": 0, "space": 404, "upload": 404}


class Seen:
    """What Erin has got hold of while she could see it: ids, a citation, a link, and a file of her own."""

    space_id: str
    document_id: str
    operation_id: str
    citation_id: str
    link: str
    file_id: str
    key = "erins-upload"

    @classmethod
    async def by_erin(cls, gateway: Gateway, space_id: str, accepted: dict[str, str]) -> "Seen":
        seen = cls()
        seen.space_id, seen.document_id, seen.operation_id = space_id, accepted["documentId"], accepted["operationId"]
        hits = (await gateway.post("/search", {"query": "hotel night"}, ERIN)).json()["data"]["hits"]
        seen.citation_id = hits[0]["citationId"]
        link = await gateway.post(f"/documents/{seen.document_id}:create-download-link", {}, ERIN)
        seen.link = link.json()["data"]["downloadUrl"].removeprefix("http://localhost:8080")
        assert (await gateway.http.get(seen.link)).content == TRAVEL
        seen.file_id = (await gateway.upload("mine.txt", b"some other text", ERIN)).json()["data"]["fileResourceId"]
        return seen


async def test_a_grant_that_is_taken_back_ends_everything_at_once(gateway: Gateway) -> None:
    """Lists, reads, search, citations, links made before, operations, files, and answers kept under a key."""
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id)
    await gateway.work()
    path = f"/spaces/{space_id}/grants"
    await administered(gateway, path, {"principal": EDITORS})
    seen = await Seen.by_erin(gateway, space_id, accepted)
    assert await look(gateway, seen) == EVERYTHING

    await administered(gateway, f"{path}:revoke", {"principal": EDITORS})
    assert await look(gateway, seen) == NOTHING

    await administered(gateway, path, {"principal": EDITORS})
    assert await look(gateway, seen) == EVERYTHING


@pytest.mark.parametrize("to", [EDITORS, principal("user", "erin"), principal("role", "knowledge-maintainer")])
async def test_a_grant_on_one_document_opens_that_document_alone(gateway: Gateway, to: dict[str, str]) -> None:
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id)
    await gateway.work()
    path = f"/spaces/{space_id}/grants"
    grant = {"principal": to, "documentId": accepted["documentId"]}
    await administered(gateway, path, grant)
    seen = await Seen.by_erin(gateway, space_id, accepted)
    assert await look(gateway, seen) == ONE_DOCUMENT

    await administered(gateway, f"{path}:revoke", grant)
    assert await look(gateway, seen) == NOTHING
