"""Who is let in is read with every request, and whatever is wrong the answer is one and the same."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import httpx
import jwt
import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry

from services.api.app import build_app
from services.api.edge.directory import StoredDirectory
from services.api.metrics import ApiMetrics
from shared.auth.assertions import AssertionVerifier, digest_of_assertion
from shared.auth.authentication import Authenticator
from shared.auth.development import ISSUER
from shared.auth.errors import RefusalReason
from shared.auth.key_sets import RemoteKeys
from shared.auth.service_tokens import ServiceToken, ServiceTokens, digest_of
from shared.contracts.ids import TenantId
from shared.domain.errors import StoreUnavailable
from shared.domain.standing import Shown, Standing
from tests.integration.api.administrating import administered
from tests.integration.api.harness import ALICE, AUDIENCE, KNOWLEDGE, TOKEN, Gateway, User, checked_error

SPACES = f"{KNOWLEDGE}/spaces"
AWAY = "https://away.example"
REFUSED = {
    "code": "KNOWLEDGE_UNAUTHENTICATED",
    "message": "The credentials are missing or not valid.",
    "retryable": False,
    "fieldErrors": [],
}

Headers = dict[str, str]
Arrange = Callable[[Gateway], Awaitable[Headers]]


def signed(gateway: Gateway, key: Ed25519PrivateKey | None = None, **changes: object) -> str:
    """An assertion of Alice's with some claims changed; of the development issuer unless another key is given."""
    now = int(gateway.clock().timestamp())
    claims: dict[str, object] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "alice",
        "sid": "session-1",
        "tenant": "acme",
        "roles": ["knowledge-reader"],
        "iat": now,
        "exp": now + 60,
    }
    return jwt.encode(claims | changes, key or gateway.issuer._key, "EdDSA")


def showing(**changes: object) -> Arrange:
    async def arrange(gateway: Gateway) -> Headers:
        return gateway.headers(x_user_assertion=signed(gateway, **changes))  # type: ignore[arg-type]

    return arrange


async def unknown_token(gateway: Gateway) -> Headers:
    return gateway.headers(authorization="Bearer nobodys-token")


async def other_tenants_token(gateway: Gateway) -> Headers:
    return gateway.headers(User(subject="alice", tenant="initech"))


async def make_token(gateway: Gateway, **body: object) -> tuple[str, str]:
    made = await administered(gateway, "/service-tokens", {"service": "loader", **body})
    return str(made["tokenId"]), str(made["token"])


async def revoked_token(gateway: Gateway) -> Headers:
    token_id, token = await make_token(gateway)
    await administered(gateway, f"/service-tokens/{token_id}:revoke", {})
    return gateway.headers(authorization=f"Bearer {token}")


async def expired_token(gateway: Gateway) -> Headers:
    _, token = await make_token(gateway, expiresInSeconds=60)
    gateway.clock.move(timedelta(seconds=60))
    return gateway.headers(authorization=f"Bearer {token}")


async def malformed_assertion(gateway: Gateway) -> Headers:
    return gateway.headers(x_user_assertion="eyJ.eyJ.x")


async def forged_assertion(gateway: Gateway) -> Headers:
    return gateway.headers(x_user_assertion=signed(gateway, Ed25519PrivateKey.generate()))


async def other_session(gateway: Gateway) -> Headers:
    return gateway.headers(x_harness_session_id="session-2")


async def revoked_assertion(gateway: Gateway) -> Headers:
    headers = gateway.headers()
    value = digest_of_assertion(headers["x-user-assertion"])
    await administered(gateway, "/revocations", {"kind": "assertion", "value": value})
    return headers


async def disabled_account(gateway: Gateway) -> Headers:
    await administered(gateway, "/accounts/alice:disable", {})
    return gateway.headers()


def seconds_from_now(gateway_seconds: int) -> Arrange:
    async def arrange(gateway: Gateway) -> Headers:
        issued = int(gateway.clock().timestamp()) + gateway_seconds
        return gateway.headers(x_user_assertion=signed(gateway, iat=issued, exp=issued + 60))

    return arrange


async def too_long_lived(gateway: Gateway) -> Headers:
    return gateway.headers(x_user_assertion=signed(gateway, exp=int(gateway.clock().timestamp()) + 601))


WAYS: dict[RefusalReason, Arrange] = {
    RefusalReason.TOKEN_UNKNOWN: unknown_token,
    RefusalReason.TOKEN_OF_OTHER_TENANT: other_tenants_token,
    RefusalReason.TOKEN_REVOKED: revoked_token,
    RefusalReason.TOKEN_EXPIRED: expired_token,
    RefusalReason.ASSERTION_MALFORMED: malformed_assertion,
    RefusalReason.ISSUER_UNKNOWN: showing(iss="https://stranger.example"),
    RefusalReason.KEYS_UNAVAILABLE: showing(iss=AWAY),
    RefusalReason.SIGNATURE_WRONG: forged_assertion,
    RefusalReason.AUDIENCE_WRONG: showing(aud="another"),
    RefusalReason.CLAIMS_WRONG: showing(sub=""),
    RefusalReason.TOO_LONG_LIVED: too_long_lived,
    RefusalReason.EXPIRED: seconds_from_now(-65),
    RefusalReason.NOT_YET_VALID: seconds_from_now(6),
    RefusalReason.OTHER_SESSION: other_session,
    RefusalReason.ASSERTION_REVOKED: revoked_assertion,
    RefusalReason.ACCOUNT_DISABLED: disabled_account,
}


async def ask(gateway: Gateway, headers: Headers | list[tuple[bytes, bytes]]) -> tuple[httpx.Response, ApiMetrics]:
    """Ask for the spaces, of an api that knows one issuer more, whose keys cannot be had."""
    nobody = httpx.AsyncClient(transport=httpx.MockTransport(lambda request: httpx.Response(500)))
    metrics = ApiMetrics(CollectorRegistry())
    verifier = AssertionVerifier(
        {ISSUER: gateway.issuer.keys(), AWAY: RemoteKeys(f"{AWAY}/keys", client=nobody, clock=gateway.clock)},
        audience=AUDIENCE,
        clock=gateway.clock,
    )
    tokens = ServiceTokens(
        [ServiceToken(service="harness", digest=digest_of(TOKEN), tenants=frozenset({TenantId("acme")}))]
    )
    directory = StoredDirectory(reads=gateway.parts.quick_reads)
    authenticator = Authenticator(tokens, verifier, directory, gateway.clock)
    app = build_app(replace(gateway.parts, authenticator=authenticator, metrics=metrics))
    transport = httpx.ASGITransport(app)
    async with nobody, httpx.AsyncClient(transport=transport, base_url="http://gateway", trust_env=False) as http:
        return await http.get(SPACES, headers=headers), metrics


def counted(metrics: ApiMetrics, reason: str) -> float | None:
    return metrics.registry.get_sample_value("knowgate_api_refused_credentials_total", {"reason": reason})


def test_there_is_a_way_to_every_reason() -> None:
    assert set(WAYS) == set(RefusalReason)


@pytest.mark.parametrize("reason", RefusalReason)
async def test_every_reason_is_the_same_401_and_is_told_to_metric_and_log_alone(
    gateway: Gateway, reason: RefusalReason
) -> None:
    headers = await WAYS[reason](gateway)

    with structlog.testing.capture_logs() as logs:
        answer, metrics = await ask(gateway, headers)

    assert checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED") == REFUSED
    assert counted(metrics, reason.value) == 1
    assert [entry["reason"] for entry in logs if entry["event"] == "api.request.unauthenticated"] == [reason.value]
    assert set(answer.headers) == {"content-length", "content-type", "cache-control", "x-request-id"}


@pytest.mark.parametrize("name", ["authorization", "x-user-assertion", "x-harness-session-id"])
@pytest.mark.parametrize(
    "value",
    [b"", b" ", b"\xc3\xa9", b"a\r\nx-injected: 1", b"a\nb", b"a\tb", b"a b", b"a\x00b", b"\xff", b"a" * 9000],
    ids=["empty", "space", "utf-8", "crlf", "lf", "tab", "inner space", "nul", "latin-1", "too long"],
)
async def test_a_malformed_credential_is_the_same_401(gateway: Gateway, name: str, value: bytes) -> None:
    right = gateway.headers()
    wrong = b"Bearer " + value if name == "authorization" else value
    headers = [(key.encode(), wrong if key == name else right[key].encode()) for key in right]

    answer, metrics = await ask(gateway, headers)

    assert checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED") == REFUSED
    assert counted(metrics, "header_malformed") == 1


async def test_a_database_that_is_away_is_a_503_and_not_a_401(gateway: Gateway) -> None:
    class Away:
        async def standing(self, shown: Shown) -> Standing:
            raise StoreUnavailable

    verifier = AssertionVerifier({ISSUER: gateway.issuer.keys()}, audience=AUDIENCE, clock=gateway.clock)
    tokens = ServiceTokens([ServiceToken(service="harness", digest=digest_of(TOKEN))])
    authenticator = Authenticator(tokens, verifier, Away(), gateway.clock)
    transport = httpx.ASGITransport(build_app(replace(gateway.parts, authenticator=authenticator)))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", trust_env=False) as http:
        answer = await http.get(SPACES, headers=gateway.headers())
        unknown = await http.get(SPACES, headers=gateway.headers(authorization="Bearer nobodys"))

    error = checked_error(answer, 503, "KNOWLEDGE_PROVIDER_UNAVAILABLE")
    assert error["retryable"] is True
    assert answer.headers["retry-after"] == "1"
    checked_error(unknown, 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_a_disabled_account_is_refused_at_once_everywhere_and_let_in_again_when_enabled(
    gateway: Gateway,
) -> None:
    space_id = await gateway.make_space()
    paths = ("/spaces", f"/spaces/{space_id}", f"/spaces/{space_id}/documents", "/operations/op_1")

    await administered(gateway, "/accounts/alice:disable", {"reason": "left"})
    for path in paths:
        checked_error(await gateway.get(path), 401, "KNOWLEDGE_UNAUTHENTICATED")
    checked_error(await gateway.post("/search", {"query": "x"}), 401, "KNOWLEDGE_UNAUTHENTICATED")
    checked_error(await gateway.upload("a.txt", b"text"), 401, "KNOWLEDGE_UNAUTHENTICATED")
    assert (await gateway.get("/spaces", User(subject="alice", tenant="globex"))).status_code == 200

    await administered(gateway, "/accounts/alice:enable", {})
    assert (await gateway.get("/spaces")).status_code == 200


async def test_a_token_that_a_tenant_made_serves_that_tenant_beside_those_of_the_settings(gateway: Gateway) -> None:
    _, token = await make_token(gateway)

    mine = gateway.headers(authorization=f"Bearer {token}")
    theirs = gateway.headers(User(subject="alice", tenant="globex"), authorization=f"Bearer {token}")

    assert (await gateway.http.get(SPACES, headers=mine)).status_code == 200
    checked_error(await gateway.http.get(SPACES, headers=theirs), 401, "KNOWLEDGE_UNAUTHENTICATED")
    assert (await gateway.get("/spaces", ALICE)).status_code == 200


async def test_a_wrong_secret_does_not_open_a_known_token(gateway: Gateway) -> None:
    _, token = await make_token(gateway)
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")

    answer, metrics = await ask(gateway, gateway.headers(authorization=f"Bearer {wrong}"))

    checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED")
    assert counted(metrics, "service_token_unknown") == 1


async def test_an_assertion_may_be_as_old_and_as_new_as_the_leeway_allows(gateway: Gateway) -> None:
    for seconds in (-64, 5):
        headers = await seconds_from_now(seconds)(gateway)
        assert (await gateway.http.get(SPACES, headers=headers)).status_code == 200, seconds
