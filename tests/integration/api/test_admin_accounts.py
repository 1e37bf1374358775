"""Accounts over the admin API, and links that are used with today's memberships."""

from dataclasses import replace

import httpx
import pytest

from tests.integration.api.administrating import ROOT, admin_get, admin_post, administered, principal
from tests.integration.api.harness import ALICE, BOB, TRAVEL, Gateway, User, checked_error

EDITOR = User(subject="erin", roles=("knowledge-reader",), groups=("editors",))
PUT = {"groups": ["editors"], "roles": ["knowledge-reader"], "domains": ["general"]}


async def make_link(gateway: Gateway, document_id: str, user: User) -> str:
    answer = await gateway.post(f"/documents/{document_id}:create-download-link", {}, user)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["data"]["downloadUrl"]).removeprefix("http://localhost:8080")


async def document_for_editors(gateway: Gateway) -> str:
    space_id = await gateway.make_space()
    document_id = await gateway.make_document(space_id)
    await administered(gateway, f"/spaces/{space_id}/grants", {"principal": principal("group", "editors")})
    return document_id


async def fetch(gateway: Gateway, path: str) -> httpx.Response:
    return await gateway.http.get(path)


async def test_an_account_is_put_whole_and_read_back(gateway: Gateway) -> None:
    put = await administered(gateway, "/accounts/erin", PUT, method="PUT")

    assert put == {
        "subject": "erin",
        "status": "ACTIVE",
        "managed": True,
        **PUT,
        "createdAt": "2031-05-06T07:08:09.000Z",
        "updatedAt": "2031-05-06T07:08:09.000Z",
    }
    assert (await admin_get(gateway, "/accounts/erin")).json()["data"] == put
    listed = (await admin_get(gateway, "/accounts")).json()
    assert listed["data"]["items"] == [put]
    assert listed["meta"]["pagination"]["totalItems"] == 1


async def test_putting_an_account_does_not_let_a_disabled_user_in(gateway: Gateway) -> None:
    await administered(gateway, "/accounts/erin:disable", {"reason": "left"})

    put = await administered(gateway, "/accounts/erin", PUT, method="PUT")

    assert put["status"] == "DISABLED"
    checked_error(await gateway.get("/spaces", EDITOR), 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_a_subject_may_be_called_anything(gateway: Gateway) -> None:
    name = "https%3A%2F%2Fissuer%2Fusers%3Aerin%20%E4%B8%AD"

    put = await administered(gateway, f"/accounts/{name}:disable", {})

    assert put["subject"] == "https://issuer/users:erin 中"
    assert (await admin_get(gateway, f"/accounts/{name}")).json()["data"]["status"] == "DISABLED"


@pytest.mark.parametrize("path", ["/accounts/nobody", "/accounts/%00", "/accounts/%FF"])
async def test_an_account_that_is_not_kept_is_a_404(gateway: Gateway, path: str) -> None:
    seen = checked_error(await admin_get(gateway, path), 404, "KNOWLEDGE_NOT_FOUND")
    enabled = checked_error(await admin_post(gateway, f"{path}:enable", {}), 404, "KNOWLEDGE_NOT_FOUND")

    assert seen["message"] == enabled["message"] == "The gateway keeps no account of this user."


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "$.groups"),
        ({**PUT, "roles": ["a", "a"]}, "$.roles"),
        ({**PUT, "domains": ["with space"]}, "$.domains[0]"),
        ({**PUT, "groups": [""]}, "$.groups[0]"),
        ({**PUT, "status": "ACTIVE"}, "$.status"),
    ],
)
async def test_a_wrong_account_is_told_what_is_wrong(gateway: Gateway, body: dict[str, object], field: str) -> None:
    answer = await admin_post(gateway, "/accounts/erin", body, method="PUT")

    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert field in [fault["field"] for fault in error["fieldErrors"]]


async def test_accounts_are_their_tenants_and_their_managers_alone(gateway: Gateway) -> None:
    await administered(gateway, "/accounts/erin", PUT, method="PUT")
    other = replace(ROOT, tenant="globex")

    checked_error(await admin_get(gateway, "/accounts/erin", other), 404, "KNOWLEDGE_NOT_FOUND")
    assert (await admin_get(gateway, "/accounts", other)).json()["data"]["items"] == []
    for path in ("/accounts", "/accounts/erin"):
        checked_error(await admin_get(gateway, path, BOB), 403, "KNOWLEDGE_FORBIDDEN")
    for path in ("/accounts/erin:disable", "/accounts/erin:enable"):
        checked_error(await admin_post(gateway, path, {}, BOB), 403, "KNOWLEDGE_FORBIDDEN")
    checked_error(await admin_post(gateway, "/accounts/erin", PUT, BOB, method="PUT"), 403, "KNOWLEDGE_FORBIDDEN")


async def test_disabling_enabling_and_disabling_with_keys_of_their_own_are_three_changes(gateway: Gateway) -> None:
    for action, status in (("disable", "DISABLED"), ("enable", "ACTIVE"), ("disable", "DISABLED")):
        assert (await administered(gateway, f"/accounts/erin:{action}", {}))["status"] == status

    checked_error(await gateway.get("/spaces", EDITOR), 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_making_a_link_notes_what_its_maker_belongs_to(gateway: Gateway) -> None:
    document_id = await document_for_editors(gateway)

    await make_link(gateway, document_id, EDITOR)

    noted = (await admin_get(gateway, "/accounts/erin")).json()["data"]
    assert (noted["managed"], noted["status"]) == (False, "ACTIVE")
    assert (noted["groups"], noted["roles"], noted["domains"]) == (["editors"], ["knowledge-reader"], ["general"])


async def test_a_link_is_used_with_the_memberships_that_were_noted_last(gateway: Gateway) -> None:
    document_id = await document_for_editors(gateway)
    path = await make_link(gateway, document_id, EDITOR)
    assert (await fetch(gateway, path)).content == TRAVEL

    own = await gateway.make_document(await gateway.make_space("own", EDITOR_ADMIN), user=EDITOR_ADMIN)
    await make_link(gateway, own, replace(EDITOR_ADMIN, groups=()))

    assert (await fetch(gateway, path)).status_code == 404


EDITOR_ADMIN = replace(EDITOR, roles=("knowledge-admin",))


async def test_a_link_dies_when_its_makers_account_is_disabled_and_lives_when_it_is_enabled(gateway: Gateway) -> None:
    path = await make_link(gateway, await document_for_editors(gateway), EDITOR)

    await administered(gateway, "/accounts/erin:disable", {})
    assert (await fetch(gateway, path)).status_code == 404

    await administered(gateway, "/accounts/erin:enable", {})
    assert (await fetch(gateway, path)).status_code == 200


@pytest.mark.parametrize("change", [{"groups": []}, {"roles": []}, {"domains": []}])
async def test_a_link_dies_with_the_group_the_role_or_the_domain_of_a_managed_account(
    gateway: Gateway, change: dict[str, object]
) -> None:
    document_id = await document_for_editors(gateway)
    await administered(gateway, "/accounts/erin", PUT, method="PUT")
    path = await make_link(gateway, document_id, EDITOR)
    assert (await fetch(gateway, path)).status_code == 200

    await administered(gateway, "/accounts/erin", PUT | change, method="PUT")

    assert (await fetch(gateway, path)).status_code == 404


async def test_an_assertion_does_not_change_a_managed_account(gateway: Gateway) -> None:
    document_id = await document_for_editors(gateway)
    await administered(gateway, "/accounts/erin", PUT, method="PUT")

    await make_link(gateway, document_id, replace(EDITOR, groups=("editors", "others")))

    assert (await admin_get(gateway, "/accounts/erin")).json()["data"]["groups"] == ["editors"]


async def test_nobody_gets_a_link_that_their_managed_account_could_not_use(gateway: Gateway) -> None:
    document_id = await document_for_editors(gateway)
    await administered(gateway, "/accounts/erin", PUT | {"groups": []}, method="PUT")

    answer = await gateway.post(f"/documents/{document_id}:create-download-link", {}, EDITOR)

    checked_error(answer, 404, "DOCUMENT_NOT_FOUND")


@pytest.mark.parametrize(("kind", "value"), [("session", "session-1"), ("subject", "erin")])
async def test_a_link_dies_with_the_session_or_the_subject_that_is_revoked(
    gateway: Gateway, kind: str, value: str
) -> None:
    path = await make_link(gateway, await document_for_editors(gateway), EDITOR)
    other = replace(ROOT, session="session-9")

    answer = await admin_post(gateway, "/revocations", {"kind": kind, "value": value}, other)

    assert answer.status_code == 201
    assert (await fetch(gateway, path)).status_code == 404


async def test_a_link_dies_when_its_document_is_disabled(gateway: Gateway) -> None:
    document_id = await document_for_editors(gateway)
    path = await make_link(gateway, document_id, EDITOR)
    disabled = await gateway.post(f"/documents/{document_id}:disable", {"expectedVersion": 1}, ALICE)

    assert disabled.status_code == 200, disabled.text
    assert (await fetch(gateway, path)).status_code == 404
