"""Who is calling: both credentials, or nobody; and nothing for development on a network."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from shared.auth.assertions import digest_of_assertion
from shared.auth.authentication import (
    Authenticator,
    UnsafeAuthentication,
    build_authenticator,
    build_sealer,
    is_loopback,
)
from shared.auth.development import DevelopmentIssuer, load_or_create_service_token
from shared.auth.directory import Directory
from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.sealing import SealKind
from shared.auth.service_tokens import digest_of
from shared.auth.settings import AuthSettings
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import SubjectId, TenantId
from shared.domain.errors import StoreUnavailable
from shared.domain.identity import Caller
from shared.domain.standing import Shown, Standing, TokenRecord
from tests.unit.shared.auth.signing import NOW, SECRET, HandClock, claims, private_key, public_pem, sign

TOKEN = "a service token of the agents"
MINTED = "kgt_01jgfjq4c0000000000000000a." + "s" * 43
RECORD = TokenRecord(
    tenant=TenantId("tenant-a"),
    service="loader",
    digest=digest_of(MINTED).hex(),
    expires_at=None,
    revoked_at=None,
)
GOOD = Standing(is_disabled=False, is_revoked=False)


class Known:
    """A directory that knows the same of everybody, and remembers what it was shown."""

    def __init__(self, standing: Standing = GOOD) -> None:
        self.answer = standing
        self.shown: list[Shown] = []

    async def standing(self, shown: Shown) -> Standing:
        self.shown.append(shown)
        return self.answer


class Away:
    """A directory that cannot be asked."""

    async def standing(self, shown: Shown) -> Standing:
        raise StoreUnavailable


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


def settings(tmp_path: Path, **changes: object) -> AuthSettings:
    given: dict[str, object] = {
        "key_directory": tmp_path,
        "service_tokens": [
            {"service": "agents", "token": TOKEN},
            {"service": "bound", "token": "a token of one tenant", "tenants": ["tenant-b"]},
        ],
        "issuers": [{"issuer": "https://issuer.example", "public_keys": [public_pem(private_key("EdDSA"))]}],
    }
    return AuthSettings.model_validate(given | changes)


@pytest.fixture
def authenticator(tmp_path: Path, client: httpx.AsyncClient) -> Authenticator:
    return build_authenticator(settings(tmp_path), host="0.0.0.0", client=client, directory=Known(), clock=HandClock())


async def test_both_credentials_together_make_a_caller(authenticator: Authenticator) -> None:
    assert await authenticator.authenticate(f"Bearer {TOKEN}", sign(claims()), "session-1") == Caller(
        tenant=TenantId("tenant-a"),
        subject=SubjectId("alice"),
        groups=("staff",),
        roles=("knowledge-reader",),
        domains=("public", "internal"),
        session_id="session-1",
        service="agents",
    )


@pytest.mark.parametrize(
    ("authorization", "assertion", "session", "reason"),
    [
        (None, "right", "session-1", RefusalReason.TOKEN_UNKNOWN),
        ("", "right", "session-1", RefusalReason.TOKEN_UNKNOWN),
        (TOKEN, "right", "session-1", RefusalReason.TOKEN_UNKNOWN),
        (f"Basic {TOKEN}", "right", "session-1", RefusalReason.TOKEN_UNKNOWN),
        ("Bearer another token", "right", "session-1", RefusalReason.TOKEN_UNKNOWN),
        (f"Bearer {MINTED}", "right", "session-1", RefusalReason.TOKEN_UNKNOWN),
        ("Bearer a token of one tenant", "right", "session-1", RefusalReason.TOKEN_OF_OTHER_TENANT),
        (f"Bearer {TOKEN}", None, "session-1", RefusalReason.ASSERTION_MALFORMED),
        (f"Bearer {TOKEN}", "right", None, RefusalReason.OTHER_SESSION),
        (f"Bearer {TOKEN}", "right", "session-2", RefusalReason.OTHER_SESSION),
    ],
)
async def test_whatever_is_wrong_the_answer_says_nothing_more(
    authenticator: Authenticator,
    authorization: str | None,
    assertion: str | None,
    session: str | None,
    reason: RefusalReason,
) -> None:
    with pytest.raises(AuthenticationRefused) as raised:
        await authenticator.authenticate(authorization, sign(claims()) if assertion else None, session)

    assert raised.value.reason is reason
    assert raised.value.code is ErrorCode.UNAUTHENTICATED
    assert raised.value.message == AuthenticationRefused.message
    assert raised.value.faults == ()


async def test_the_scheme_of_the_token_may_be_written_in_any_case(authenticator: Authenticator) -> None:
    assert (await authenticator.authenticate(f"bearer {TOKEN}", sign(claims()), "session-1")).subject == "alice"


async def test_a_machine_serves_itself_with_credentials_of_its_own(tmp_path: Path, client: httpx.AsyncClient) -> None:
    token = load_or_create_service_token(tmp_path)
    local = settings(tmp_path, development_issuer=True, service_tokens=[{"service": "local", "token": token}])
    authenticator = build_authenticator(local, host="127.0.0.1", client=client, directory=Known(), clock=HandClock())
    assertion = DevelopmentIssuer(tmp_path).mint(
        audience="knowgate", tenant="demo", subject="me", session_id="here", now=NOW, roles=["knowledge-admin"]
    )

    caller = await authenticator.authenticate(f"Bearer {token}", assertion, "here")
    assert (caller.tenant, caller.subject, caller.roles) == ("demo", "me", ("knowledge-admin",))
    assert load_or_create_service_token(tmp_path) == token


async def test_another_machines_development_key_does_not_serve(tmp_path: Path, client: httpx.AsyncClient) -> None:
    local = settings(tmp_path, development_issuer=True)
    authenticator = build_authenticator(local, host="localhost", client=client, directory=Known(), clock=HandClock())
    foreign = DevelopmentIssuer(tmp_path / "other").mint(
        audience="knowgate", tenant="demo", subject="me", session_id="here", now=NOW
    )

    with pytest.raises(AuthenticationRefused) as raised:
        await authenticator.authenticate(f"Bearer {TOKEN}", foreign, "here")
    assert raised.value.reason is RefusalReason.SIGNATURE_WRONG


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "gateway.example", ""])
@pytest.mark.parametrize(
    "changes",
    [{"development_issuer": True}, {"issuers": [{"issuer": "dev", "shared_secret": SECRET.decode()}]}],
    ids=["development issuer", "shared secret"],
)
async def test_development_credentials_are_refused_on_a_network(
    tmp_path: Path, client: httpx.AsyncClient, host: str, changes: dict[str, object]
) -> None:
    with pytest.raises(UnsafeAuthentication, match="bind to"):
        build_authenticator(
            settings(tmp_path, **changes), host=host, client=client, directory=Known(), clock=HandClock()
        )


async def test_a_shared_secret_serves_on_this_machine(tmp_path: Path, client: httpx.AsyncClient) -> None:
    shared = settings(tmp_path, issuers=[{"issuer": "https://issuer.example", "shared_secret": SECRET.decode()}])
    authenticator = build_authenticator(shared, host="::1", client=client, directory=Known(), clock=HandClock())

    assertion = sign(claims(), "HS256", key=SECRET)
    assert (await authenticator.authenticate(f"Bearer {TOKEN}", assertion, "session-1")).subject == "alice"


@pytest.mark.parametrize(("host", "local"), [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True)])
def test_addresses_of_this_machine_are_known(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_configured_sealing_keys_come_before_the_machines_own(tmp_path: Path) -> None:
    key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
    configured = build_sealer(settings(tmp_path, sealing_keys=[key])).seal(SealKind.CITATION, b"x", b"t")
    own = build_sealer(settings(tmp_path)).seal(SealKind.CITATION, b"x", b"t")

    assert configured == build_sealer(settings(tmp_path / "elsewhere", sealing_keys=[key])).seal(
        SealKind.CITATION, b"x", b"t"
    )
    assert own != configured
    assert own == build_sealer(settings(tmp_path)).seal(SealKind.CITATION, b"x", b"t")


def knowing(tmp_path: Path, client: httpx.AsyncClient, directory: Directory) -> Authenticator:
    return build_authenticator(
        settings(tmp_path), host="0.0.0.0", client=client, directory=directory, clock=HandClock()
    )


async def test_the_directory_is_shown_who_calls_and_with_what_at_every_request(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    directory, assertion = Known(), sign(claims())
    authenticator = knowing(tmp_path, client, directory)

    for _ in range(2):
        await authenticator.authenticate(f"Bearer {TOKEN}", assertion, "session-1")

    shown = Shown(
        tenant=TenantId("tenant-a"),
        subject=SubjectId("alice"),
        session_id="session-1",
        assertion_digest=digest_of_assertion(assertion),
        issued_at=NOW,
        token_id=None,
    )
    assert directory.shown == [shown, shown]


@pytest.mark.parametrize(
    ("standing", "reason"),
    [
        (replace(GOOD, is_disabled=True), RefusalReason.ACCOUNT_DISABLED),
        (replace(GOOD, is_revoked=True), RefusalReason.ASSERTION_REVOKED),
        (Standing(is_disabled=True, is_revoked=True), RefusalReason.ASSERTION_REVOKED),
    ],
)
async def test_who_is_shut_out_is_refused_with_the_best_of_credentials(
    tmp_path: Path, client: httpx.AsyncClient, standing: Standing, reason: RefusalReason
) -> None:
    with pytest.raises(AuthenticationRefused) as raised:
        await knowing(tmp_path, client, Known(standing)).authenticate(f"Bearer {TOKEN}", sign(claims()), "session-1")

    assert raised.value.reason is reason


async def test_a_directory_that_is_away_is_no_reason_to_refuse_or_to_let_in(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    with pytest.raises(StoreUnavailable):
        await knowing(tmp_path, client, Away()).authenticate(f"Bearer {TOKEN}", sign(claims()), "session-1")


async def test_nobody_is_looked_up_whose_credentials_are_no_good(tmp_path: Path, client: httpx.AsyncClient) -> None:
    authenticator = knowing(tmp_path, client, Away())

    for token, assertion in ((TOKEN, sign(claims(aud="other"))), ("another token", sign(claims()))):
        with pytest.raises(AuthenticationRefused):
            await authenticator.authenticate(f"Bearer {token}", assertion, "session-1")


async def test_a_token_that_a_tenant_made_is_known_by_its_record(tmp_path: Path, client: httpx.AsyncClient) -> None:
    directory = Known(replace(GOOD, token=RECORD))

    caller = await knowing(tmp_path, client, directory).authenticate(f"Bearer {MINTED}", sign(claims()), "session-1")

    assert caller.service == "loader"
    assert directory.shown[0].token_id == "kgt_01jgfjq4c0000000000000000a"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, RefusalReason.TOKEN_UNKNOWN),
        (replace(RECORD, digest=digest_of(MINTED + "s").hex()), RefusalReason.TOKEN_UNKNOWN),
        (replace(RECORD, revoked_at=NOW), RefusalReason.TOKEN_REVOKED),
        (replace(RECORD, expires_at=NOW), RefusalReason.TOKEN_EXPIRED),
        (replace(RECORD, tenant=TenantId("tenant-b")), RefusalReason.TOKEN_OF_OTHER_TENANT),
    ],
)
async def test_a_token_that_a_tenant_made_must_be_right_live_and_the_tenants(
    tmp_path: Path, client: httpx.AsyncClient, record: TokenRecord | None, reason: RefusalReason
) -> None:
    authenticator = knowing(tmp_path, client, Known(replace(GOOD, token=record)))

    with pytest.raises(AuthenticationRefused) as raised:
        await authenticator.authenticate(f"Bearer {MINTED}", sign(claims()), "session-1")

    assert raised.value.reason is reason
    assert str(raised.value) == AuthenticationRefused.message


async def test_a_minted_token_serves_until_the_moment_at_which_it_expires(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    record = replace(RECORD, expires_at=NOW + timedelta(microseconds=1))
    authenticator = knowing(tmp_path, client, Known(replace(GOOD, token=record)))

    assert (await authenticator.authenticate(f"Bearer {MINTED}", sign(claims()), "session-1")).service == "loader"
