"""Service tokens over the admin API: shown once, kept as a hash, live beside each other, revoked for good."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection

from tests.integration.api.administrating import ROOT, admin_get, admin_post, administered
from tests.integration.api.harness import BOB, KNOWLEDGE, Gateway, User, checked_error

SPACES = f"{KNOWLEDGE}/spaces"
OTHER_ROOT = User(subject="root", tenant="globex", roles=("gateway-admin",))


async def status(gateway: Gateway, token: object) -> int:
    return (await gateway.http.get(SPACES, headers=gateway.headers(authorization=f"Bearer {token}"))).status_code


async def test_a_token_is_answered_once_with_what_is_kept_of_it(gateway: Gateway) -> None:
    answer = await admin_post(gateway, "/service-tokens", {"service": "loader", "expiresInSeconds": 3600})

    assert answer.status_code == 201
    data = answer.json()["data"]
    token_id, token = data.pop("tokenId"), data.pop("token")
    assert token.startswith(f"{token_id}.")
    assert data == {
        "service": "loader",
        "createdBy": "root",
        "createdAt": "2031-05-06T07:08:09.000Z",
        "expiresAt": "2031-05-06T08:08:09.000Z",
    }
    assert await status(gateway, token) == 200
    (listed,) = (await admin_get(gateway, "/service-tokens")).json()["data"]["items"]
    assert listed == {"tokenId": token_id, **data}


async def test_the_text_of_a_token_is_kept_nowhere_and_so_not_repeated(gateway: Gateway) -> None:
    body = {"service": "loader"}
    first = await admin_post(gateway, "/service-tokens", body, key="once")
    token = first.json()["data"]["token"]
    secret = token.partition(".")[2]

    second = await admin_post(gateway, "/service-tokens", body, key="once")

    assert second.status_code == 201
    assert second.headers["x-idempotent-replay"] == "true"
    assert second.json()["data"] == {name: value for name, value in first.json()["data"].items() if name != "token"}
    assert (await admin_get(gateway, "/service-tokens")).json()["meta"]["pagination"]["totalItems"] == 1

    def everything(conn: Connection) -> str:
        tables = [row[0] for row in conn.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return "".join(str(conn.exec_driver_sql(f'SELECT * FROM "{table}"').all()) for table in tables)  # noqa: S608

    kept = await gateway.parts.database.read(everything)
    assert token.partition(".")[0] in kept
    assert secret not in kept


async def test_a_token_is_replaced_by_another_while_both_are_live(gateway: Gateway) -> None:
    old = await administered(gateway, "/service-tokens", {"service": "loader"})
    new = await administered(gateway, "/service-tokens", {"service": "loader"})
    assert [await status(gateway, old["token"]), await status(gateway, new["token"])] == [200, 200]

    revoked = await administered(gateway, f"/service-tokens/{old['tokenId']}:revoke", {})

    assert revoked["revokedAt"] == "2031-05-06T07:08:09.000Z"
    assert [await status(gateway, old["token"]), await status(gateway, new["token"])] == [401, 200]


async def test_a_revoked_token_stays_revoked_since_the_first_time(gateway: Gateway) -> None:
    made = await administered(gateway, "/service-tokens", {"service": "loader"})
    await administered(gateway, f"/service-tokens/{made['tokenId']}:revoke", {})
    gateway.clock.move(timedelta(minutes=1))

    again = await administered(gateway, f"/service-tokens/{made['tokenId']}:revoke", {})

    assert again["revokedAt"] == "2031-05-06T07:08:09.000Z"


async def test_an_id_that_no_token_can_have_is_that_of_an_unknown_token(gateway: Gateway) -> None:
    unknown = await admin_post(gateway, "/service-tokens/none:revoke", {})
    impossible = await admin_post(gateway, "/service-tokens/%00:revoke", {})

    assert checked_error(impossible, 404, "KNOWLEDGE_NOT_FOUND") == checked_error(unknown, 404, "KNOWLEDGE_NOT_FOUND")


async def test_a_token_ends_when_its_time_is_over(gateway: Gateway) -> None:
    made = await administered(gateway, "/service-tokens", {"service": "loader", "expiresInSeconds": 60})
    gateway.clock.move(timedelta(seconds=59))
    assert await status(gateway, made["token"]) == 200

    gateway.clock.move(timedelta(seconds=1))

    assert await status(gateway, made["token"]) == 401


async def test_a_tenant_sees_and_ends_its_own_tokens_alone(gateway: Gateway) -> None:
    made = await administered(gateway, "/service-tokens", {"service": "loader"})

    assert (await admin_get(gateway, "/service-tokens", OTHER_ROOT)).json()["data"]["items"] == []
    path = f"/service-tokens/{made['tokenId']}:revoke"
    checked_error(await admin_post(gateway, path, {}, OTHER_ROOT), 404, "KNOWLEDGE_NOT_FOUND")
    checked_error(await admin_post(gateway, "/service-tokens/kgt_0:revoke", {}), 404, "KNOWLEDGE_NOT_FOUND")
    assert await status(gateway, made["token"]) == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "$.service"),
        ({"service": ""}, "$.service"),
        ({"service": "two words"}, "$.service"),
        ({"service": "s", "expiresInSeconds": 59}, "$.expiresInSeconds"),
        ({"service": "s", "expiresInSeconds": None}, "$.expiresInSeconds"),
        ({"service": "s", "tenant": "globex"}, "$.tenant"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(gateway: Gateway, body: dict[str, object], field: str) -> None:
    error = checked_error(await admin_post(gateway, "/service-tokens", body), 422, "KNOWLEDGE_INVALID_INPUT")

    assert [fault["field"] for fault in error["fieldErrors"]] == [field]


async def test_only_those_who_manage_tokens_make_list_and_end_them(gateway: Gateway) -> None:
    made = await administered(gateway, "/service-tokens", {"service": "loader"})

    checked_error(await admin_post(gateway, "/service-tokens", {"service": "x"}, BOB), 403, "KNOWLEDGE_FORBIDDEN")
    checked_error(await admin_get(gateway, "/service-tokens", BOB), 403, "KNOWLEDGE_FORBIDDEN")
    revoke = f"/service-tokens/{made['tokenId']}:revoke"
    checked_error(await admin_post(gateway, revoke, {}, BOB), 403, "KNOWLEDGE_FORBIDDEN")


async def test_an_administrator_who_is_one_no_more_gets_no_answer_repeated(gateway: Gateway) -> None:
    await admin_post(gateway, "/service-tokens", {"service": "x"}, key="k")
    former = User(subject=ROOT.subject, roles=("knowledge-admin",))

    answer = await admin_post(gateway, "/service-tokens", {"service": "x"}, former, key="k")

    checked_error(answer, 403, "KNOWLEDGE_FORBIDDEN")
