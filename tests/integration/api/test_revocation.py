"""Revoked assertions, sessions and subjects: refused at once, and forgotten when nothing is left to refuse."""

from datetime import timedelta

import pytest

from shared.auth.assertions import digest_of_assertion
from tests.integration.api.administrating import ROOT, admin_get, admin_post, administered
from tests.integration.api.harness import ALICE, BOB, KNOWLEDGE, Gateway, User, checked_error

SPACES = f"{KNOWLEDGE}/spaces"
ALICE_ELSEWHERE = User(subject="alice", session="session-2")
LEEWAY = timedelta(seconds=5, microseconds=1)


async def status(gateway: Gateway, headers: dict[str, str]) -> int:
    return (await gateway.http.get(SPACES, headers=headers)).status_code


async def test_one_assertion_is_revoked_and_others_of_its_session_are_not(gateway: Gateway) -> None:
    first = gateway.headers(ALICE)
    gateway.clock.move(timedelta(seconds=1))
    second = gateway.headers(ALICE)
    assert [await status(gateway, first), await status(gateway, second)] == [200, 200]

    value = digest_of_assertion(first["x-user-assertion"])
    data = await administered(gateway, "/revocations", {"kind": "assertion", "value": value})

    assert data == {
        "kind": "assertion",
        "value": value,
        "issuedUntil": "2031-05-06T07:08:15.000Z",
        "createdBy": "root",
        "createdAt": "2031-05-06T07:08:10.000Z",
        "expiresAt": "2031-05-06T07:18:20.000Z",
    }
    assert [await status(gateway, first), await status(gateway, second)] == [401, 200]


@pytest.mark.parametrize(("kind", "value", "elsewhere"), [("session", "session-1", 200), ("subject", "alice", 401)])
async def test_everything_of_a_session_or_a_subject_is_revoked_that_was_issued_until_now(
    gateway: Gateway, kind: str, value: str, elsewhere: int
) -> None:
    here, there = gateway.headers(ALICE), gateway.headers(ALICE_ELSEWHERE)
    foreign = gateway.headers(User(subject="alice", tenant="globex"))
    await administered(gateway, "/revocations", {"kind": kind, "value": value})

    assert [await status(gateway, here), await status(gateway, there)] == [401, elsewhere]
    assert await status(gateway, foreign) == 200
    assert await status(gateway, gateway.headers(User(subject="bob", session="session-3"))) == 200

    gateway.clock.move(LEEWAY)
    gateway.clock.move(timedelta(seconds=1))
    assert await status(gateway, here) == 401
    assert await status(gateway, gateway.headers(ALICE)) == 200


async def test_an_assertion_of_an_issuer_whose_clock_is_ahead_counts_as_issued_before(gateway: Gateway) -> None:
    gateway.clock.move(timedelta(seconds=4))
    ahead = gateway.headers(ALICE)
    gateway.clock.move(timedelta(seconds=-4))

    await administered(gateway, "/revocations", {"kind": "subject", "value": "alice"})

    assert await status(gateway, ahead) == 401


async def test_revoking_again_reaches_further(gateway: Gateway) -> None:
    await administered(gateway, "/revocations", {"kind": "subject", "value": "alice"})
    gateway.clock.move(timedelta(seconds=30))
    later = gateway.headers(ALICE)
    assert await status(gateway, later) == 200

    again = await administered(gateway, "/revocations", {"kind": "subject", "value": "alice"})

    assert again["issuedUntil"] == "2031-05-06T07:08:44.000Z"
    assert again["createdAt"] == "2031-05-06T07:08:09.000Z"
    assert await status(gateway, later) == 401
    listed = (await admin_get(gateway, "/revocations")).json()
    assert [item["issuedUntil"] for item in listed["data"]["items"]] == ["2031-05-06T07:08:44.000Z"]


async def test_revocations_are_listed_for_their_tenant_alone(gateway: Gateway) -> None:
    await administered(gateway, "/revocations", {"kind": "session", "value": "s-1"})

    listed = (await admin_get(gateway, "/revocations")).json()
    assert [(item["kind"], item["value"]) for item in listed["data"]["items"]] == [("session", "s-1")]
    assert listed["meta"]["pagination"]["totalItems"] == 1
    other = User(subject="root", tenant="globex", roles=("gateway-admin",))
    assert (await admin_get(gateway, "/revocations", other)).json()["data"]["items"] == []


@pytest.mark.parametrize("value", ["abc", "A" * 64, "g" * 64, "a" * 63, "a" * 65])
async def test_an_assertion_is_named_by_a_digest_and_nothing_else(gateway: Gateway, value: str) -> None:
    answer = await admin_post(gateway, "/revocations", {"kind": "assertion", "value": value})

    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [fault["field"] for fault in error["fieldErrors"]] == ["$"]
    assert value not in answer.text


async def test_whoever_revokes_themselves_is_out_as_well(gateway: Gateway) -> None:
    await administered(gateway, "/revocations", {"kind": "subject", "value": "root"})

    checked_error(await admin_get(gateway, "/revocations", ROOT), 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_only_those_who_manage_access_revoke_and_see_what_is_revoked(gateway: Gateway) -> None:
    body = {"kind": "subject", "value": "alice"}

    checked_error(await admin_post(gateway, "/revocations", body, BOB), 403, "KNOWLEDGE_FORBIDDEN")
    checked_error(await admin_get(gateway, "/revocations", BOB), 403, "KNOWLEDGE_FORBIDDEN")
    assert (await gateway.get("/spaces", ALICE)).status_code == 200
