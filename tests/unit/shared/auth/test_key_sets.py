"""Keys at an issuer's address: kept, refreshed, and never asked for too often."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from shared.auth.assertions import AssertionVerifier
from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.key_sets import ASKED_AGAIN_AFTER, KEPT_FOR, LONGEST_ANSWER_BYTES, RemoteKeys
from tests.unit.shared.auth.signing import HandClock, claims, public_jwk, sign

URL = "https://issuer.example/jwks.json"


class Issuer:
    """An issuer's address: what it answers can be changed, and it counts who asks."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: Callable[[], httpx.Response] = lambda: httpx.Response(200, json={"keys": []})

    def publish(self, *key_ids: str) -> None:
        keys = [public_jwk("EdDSA", kid=key_id) for key_id in key_ids]
        self.answer = lambda: httpx.Response(200, json={"keys": keys})

    def reply(self, response: httpx.Response) -> None:
        self.answer = lambda: response

    def go_away(self) -> None:
        def refuse() -> httpx.Response:
            raise httpx.ConnectError("nobody there")

        self.answer = refuse

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        assert str(request.url) == URL
        self.asked += 1
        await asyncio.sleep(0)
        return self.answer()


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def keys(issuer: Issuer, clock: HandClock) -> RemoteKeys:
    return RemoteKeys(URL, client=httpx.AsyncClient(transport=httpx.MockTransport(issuer)), clock=clock)


async def names(keys: RemoteKeys, key_id: str | None = None) -> list[str | None]:
    return [key.key_id for key in await keys.find("EdDSA", key_id)]


async def test_keys_are_fetched_once_and_kept(keys: RemoteKeys, issuer: Issuer, clock: HandClock) -> None:
    issuer.publish("one", "two")

    assert await names(keys, "one") == ["one"]
    clock.pass_by(KEPT_FOR - timedelta(seconds=1))
    assert await names(keys) == ["one", "two"]
    assert issuer.asked == 1


async def test_old_keys_are_fetched_anew(keys: RemoteKeys, issuer: Issuer, clock: HandClock) -> None:
    issuer.publish("one")
    await names(keys)
    issuer.publish("two")
    clock.pass_by(KEPT_FOR)

    assert await names(keys) == ["two"]


async def test_a_key_that_is_not_there_yet_is_looked_for_at_once_and_then_only_now_and_then(
    keys: RemoteKeys, issuer: Issuer, clock: HandClock
) -> None:
    issuer.publish("one")
    await names(keys)
    clock.pass_by(ASKED_AGAIN_AFTER)
    issuer.publish("one", "new")
    assert await names(keys, "new") == ["new"]

    for _ in range(10):
        assert await names(keys, "invented") == []
    assert issuer.asked == 2
    clock.pass_by(ASKED_AGAIN_AFTER)
    assert await names(keys, "invented") == []
    assert issuer.asked == 3


async def test_many_at_once_ask_once(keys: RemoteKeys, issuer: Issuer) -> None:
    issuer.publish("one")

    found = await asyncio.gather(*[names(keys, "one") for _ in range(20)])

    assert found == [["one"]] * 20
    assert issuer.asked == 1


async def test_while_the_issuer_is_away_its_last_keys_serve(keys: RemoteKeys, issuer: Issuer, clock: HandClock) -> None:
    issuer.publish("one")
    await names(keys)
    issuer.go_away()
    clock.pass_by(KEPT_FOR * 2)

    assert await names(keys, "one") == ["one"]


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(500),
        httpx.Response(302, headers={"Location": "https://elsewhere.example"}),
        httpx.Response(200, content=b"<html>"),
        httpx.Response(200, content=b"[]"),
        httpx.Response(200, content=b" " * (LONGEST_ANSWER_BYTES + 1)),
    ],
    ids=["error", "redirect", "no json", "no object", "too long"],
)
async def test_an_answer_that_is_no_key_set_gives_no_keys(
    keys: RemoteKeys, issuer: Issuer, response: httpx.Response
) -> None:
    issuer.reply(response)

    with pytest.raises(AuthenticationRefused) as raised:
        await names(keys)

    assert raised.value.reason is RefusalReason.KEYS_UNAVAILABLE


async def test_an_issuer_changes_its_key_while_assertions_keep_coming(
    keys: RemoteKeys, issuer: Issuer, clock: HandClock
) -> None:
    """Old and new are both good while both are published, the new one at once; the old one ends with the kept keys."""
    verifier = AssertionVerifier({"https://issuer.example": keys}, audience="knowgate", clock=clock)

    async def refusal(algorithm: str, key_id: str) -> RefusalReason | None:
        issued = int(clock().timestamp())
        assertion = sign(claims(iat=issued, exp=issued + 60), algorithm, headers={"kid": key_id})
        try:
            await verifier.verify(assertion, "session-1")
        except AuthenticationRefused as refused:
            return refused.reason
        return None

    old, new = public_jwk("EdDSA", kid="old"), public_jwk("ES256", kid="new")
    issuer.reply(httpx.Response(200, json={"keys": [old]}))
    assert await refusal("EdDSA", "old") is None
    clock.pass_by(ASKED_AGAIN_AFTER)
    issuer.reply(httpx.Response(200, json={"keys": [old, new]}))
    assert await refusal("ES256", "new") is None
    assert await refusal("EdDSA", "old") is None

    issuer.reply(httpx.Response(200, json={"keys": [new]}))
    clock.pass_by(KEPT_FOR - timedelta(seconds=1))
    assert await refusal("EdDSA", "old") is None
    clock.pass_by(timedelta(seconds=1))
    assert await refusal("EdDSA", "old") is RefusalReason.SIGNATURE_WRONG
    assert await refusal("ES256", "new") is None
