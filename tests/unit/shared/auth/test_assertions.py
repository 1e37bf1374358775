"""User assertions: what a right one says, and every way in which one can be wrong."""

import base64
import hmac
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519

from shared.auth.assertions import MOST_REMEMBERED, AssertionVerifier, Claims, digest_of_assertion
from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.verification_keys import FixedKeys, VerificationKey, read_key, secret_key
from tests.unit.shared.auth.signing import NOW, SECRET, HandClock, claims, private_key, public_pem, sign

ISSUER = "https://issuer.example"
ORDER_OF_P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ISSUED = int(NOW.timestamp())


class CountingKeys(FixedKeys):
    """Counts how often a key is asked for, which is how often a signature is verified."""

    asked = 0

    async def find(self, algorithm: str, key_id: str | None) -> Sequence[VerificationKey]:
        self.asked += 1
        return await super().find(algorithm, key_id)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def keys() -> CountingKeys:
    return CountingKeys([read_key(public_pem(private_key(name))) for name in ("EdDSA", "ES256", "RS256")])


@pytest.fixture
def verifier(keys: CountingKeys, clock: HandClock) -> AssertionVerifier:
    return AssertionVerifier({ISSUER: keys}, audience="knowgate", clock=clock)


async def refusal(verifier: AssertionVerifier, assertion: str, session: str = "session-1") -> RefusalReason:
    with pytest.raises(AuthenticationRefused) as raised:
        await verifier.verify(assertion, session)
    assert str(raised.value) == str(AuthenticationRefused(RefusalReason.EXPIRED))
    return raised.value.reason


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
async def test_a_right_assertion_tells_who_its_bearer_is(verifier: AssertionVerifier, algorithm: str) -> None:
    found = await verifier.verify(sign(claims(), algorithm), "session-1")

    assert (found.tenant, found.sub, found.sid) == ("tenant-a", "alice", "session-1")
    assert (found.groups, found.roles, found.domains) == (["staff"], ["knowledge-reader"], ["public", "internal"])


async def test_what_an_assertion_leaves_out_is_nothing(verifier: AssertionVerifier) -> None:
    found = await verifier.verify(sign(claims(groups=None, roles=None, domains=None, more={"a": 1})), "session-1")

    assert (found.groups, found.roles, found.domains) == ([], [], [])


async def test_one_of_several_audiences_may_be_ours(verifier: AssertionVerifier) -> None:
    assert (await verifier.verify(sign(claims(aud=["other", "knowgate"])), "session-1")).sub == "alice"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://stranger.example"}, RefusalReason.ISSUER_UNKNOWN),
        ({"iss": None}, RefusalReason.ASSERTION_MALFORMED),
        ({"aud": "other"}, RefusalReason.AUDIENCE_WRONG),
        ({"aud": []}, RefusalReason.AUDIENCE_WRONG),
        ({"aud": None}, RefusalReason.CLAIMS_WRONG),
        ({"exp": ISSUED + 601}, RefusalReason.TOO_LONG_LIVED),
        ({"exp": ISSUED}, RefusalReason.TOO_LONG_LIVED),
        ({"exp": None}, RefusalReason.CLAIMS_WRONG),
        ({"iat": None}, RefusalReason.CLAIMS_WRONG),
        ({"exp": str(ISSUED + 60)}, RefusalReason.CLAIMS_WRONG),
        ({"exp": True}, RefusalReason.CLAIMS_WRONG),
        ({"iat": ISSUED - 605, "exp": ISSUED - 5}, RefusalReason.EXPIRED),
        ({"iat": ISSUED + 6, "exp": ISSUED + 60}, RefusalReason.NOT_YET_VALID),
        ({"nbf": ISSUED + 6}, RefusalReason.NOT_YET_VALID),
        ({"sid": "session-2"}, RefusalReason.OTHER_SESSION),
        ({"sid": None}, RefusalReason.CLAIMS_WRONG),
        ({"sub": None}, RefusalReason.CLAIMS_WRONG),
        ({"sub": ""}, RefusalReason.CLAIMS_WRONG),
        ({"sub": 7}, RefusalReason.CLAIMS_WRONG),
        ({"sub": "al\0ice"}, RefusalReason.CLAIMS_WRONG),
        ({"sub": "a" * 257}, RefusalReason.CLAIMS_WRONG),
        ({"tenant": "\0"}, RefusalReason.CLAIMS_WRONG),
        ({"groups": ["staff", "\0"]}, RefusalReason.CLAIMS_WRONG),
        ({"sub": "\ud800"}, RefusalReason.CLAIMS_WRONG),
        ({"tenant": None}, RefusalReason.CLAIMS_WRONG),
        ({"roles": "knowledge-admin"}, RefusalReason.CLAIMS_WRONG),
        ({"domains": ["public", 1]}, RefusalReason.CLAIMS_WRONG),
    ],
)
async def test_one_wrong_claim_is_enough(
    verifier: AssertionVerifier, changes: dict[str, object], reason: RefusalReason
) -> None:
    assert await refusal(verifier, sign(claims(**changes))) is reason


@pytest.mark.parametrize(
    "changes", [{"iat": ISSUED - 604, "exp": ISSUED - 4}, {"iat": ISSUED + 5}, {"nbf": ISSUED + 5}]
)
async def test_clocks_may_differ_by_five_seconds(verifier: AssertionVerifier, changes: dict[str, object]) -> None:
    assert (await verifier.verify(sign(claims(**changes)), "session-1")).sub == "alice"


async def test_a_signature_of_another_key_is_wrong(verifier: AssertionVerifier) -> None:
    forged = sign(claims(), key=ed25519.Ed25519PrivateKey.generate())

    assert await refusal(verifier, forged) is RefusalReason.SIGNATURE_WRONG


async def test_changed_claims_break_the_signature(verifier: AssertionVerifier) -> None:
    head, _, signature = sign(claims()).split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims(sub="mallory")).encode()).rstrip(b"=").decode()

    assert await refusal(verifier, f"{head}.{body}.{signature}") is RefusalReason.SIGNATURE_WRONG


async def test_an_unsigned_assertion_is_refused(verifier: AssertionVerifier) -> None:
    unsigned = jwt.encode(claims(), "", "none")

    assert await refusal(verifier, unsigned) is RefusalReason.SIGNATURE_WRONG


async def test_a_public_key_is_never_taken_for_a_shared_secret(clock: HandClock) -> None:
    keys = FixedKeys([read_key(public_pem(private_key("RS256")))])
    verifier = AssertionVerifier({ISSUER: keys}, audience="knowgate", clock=clock)
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=")
    body = base64.urlsafe_b64encode(json.dumps(claims()).encode()).rstrip(b"=")
    mac = hmac.digest(public_pem(private_key("RS256")).encode(), head + b"." + body, "sha256")
    confused = b".".join((head, body, base64.urlsafe_b64encode(mac).rstrip(b"="))).decode()

    assert await refusal(verifier, confused) is RefusalReason.SIGNATURE_WRONG


async def test_a_shared_secret_verifies_what_was_signed_with_it(clock: HandClock) -> None:
    verifier = AssertionVerifier({ISSUER: FixedKeys([secret_key(SECRET)])}, audience="knowgate", clock=clock)

    assert (await verifier.verify(sign(claims(), "HS256", key=SECRET), "session-1")).sub == "alice"
    assert await refusal(verifier, sign(claims(), "HS256", key=SECRET + b"!")) is RefusalReason.SIGNATURE_WRONG


async def test_another_issuers_key_does_not_serve(clock: HandClock) -> None:
    issuers = {
        ISSUER: FixedKeys([read_key(public_pem(private_key("EdDSA")))]),
        "https://second.example": FixedKeys([read_key(public_pem(private_key("ES256")))]),
    }
    verifier = AssertionVerifier(issuers, audience="knowgate", clock=clock)

    borrowed = sign(claims(iss="https://second.example"), "EdDSA")
    assert await refusal(verifier, borrowed) is RefusalReason.SIGNATURE_WRONG


@pytest.mark.parametrize(
    "assertion",
    ["", ".", "..", "a.b.c", "not a token", "\ud800", "é", "x" * 9000, "eyJhbGciOiJFZERTQSJ9." + "W" * 4000 + ".x"],
)
async def test_what_is_no_assertion_is_malformed(verifier: AssertionVerifier, assertion: str) -> None:
    assert await refusal(verifier, assertion) is RefusalReason.ASSERTION_MALFORMED


async def test_deeply_nested_claims_are_malformed_and_no_crash(verifier: AssertionVerifier) -> None:
    body = base64.urlsafe_b64encode(b'{"a":' + b"[" * 5000).rstrip(b"=").decode()

    assert await refusal(verifier, f"eyJhbGciOiJFZERTQSJ9.{body}.AA") is RefusalReason.ASSERTION_MALFORMED


async def test_a_verified_signature_is_remembered_but_times_and_session_are_looked_at_each_time(
    verifier: AssertionVerifier, keys: CountingKeys, clock: HandClock
) -> None:
    assertion = sign(claims())
    for _ in range(3):
        await verifier.verify(assertion, "session-1")
    assert keys.asked == 1

    assert await refusal(verifier, assertion, "session-2") is RefusalReason.OTHER_SESSION
    clock.pass_by(timedelta(seconds=604))
    await verifier.verify(assertion, "session-1")
    clock.pass_by(timedelta(seconds=1))
    assert await refusal(verifier, assertion) is RefusalReason.EXPIRED
    assert keys.asked == 1


async def test_a_refused_assertion_is_not_remembered(verifier: AssertionVerifier, keys: CountingKeys) -> None:
    for _ in range(2):
        await refusal(verifier, sign(claims(aud="other")))

    assert keys.asked == 2


async def test_what_is_remembered_is_bounded(verifier: AssertionVerifier, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_REMEMBERED == 10_000
    monkeypatch.setattr("shared.auth.assertions.MOST_REMEMBERED", 2)
    for number in range(5):
        await verifier.verify(sign(claims(jti=str(number))), "session-1")

    assert len(verifier._verified) == 2


async def test_an_assertion_with_another_good_signature_is_revoked_with_it(verifier: AssertionVerifier) -> None:
    assertion = sign(claims(), "ES256")
    signed, _, signature = assertion.rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    mirrored = raw[:32] + (ORDER_OF_P256 - int.from_bytes(raw[32:])).to_bytes(32)
    other = f"{signed}.{base64.urlsafe_b64encode(mirrored).rstrip(b'=').decode()}"

    assert other != assertion
    assert (await verifier.verify(other, "session-1")).sub == "alice"
    assert digest_of_assertion(other) == digest_of_assertion(assertion)


def test_two_assertions_are_revoked_one_by_one() -> None:
    assert digest_of_assertion(sign(claims())) != digest_of_assertion(sign(claims(jti="2")))
    assert digest_of_assertion("a.b.c") == "2e7336dc8eba87ef472df568c35482abf2575dc3e5eac0c5c62b8ffaeac2c934"


def test_the_time_of_issue_is_told_to_the_microsecond() -> None:
    issued = Claims.model_validate(claims(iat=1767268800.25, exp=1767268900)).issued_at

    assert issued == datetime(2026, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC)
