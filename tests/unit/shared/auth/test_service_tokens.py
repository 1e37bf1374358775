"""Service tokens: several live at once, each for its tenants."""

import pytest

from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.service_tokens import ServiceToken, ServiceTokens, digest_of, mint_token, minted_id
from shared.contracts.ids import TenantId
from shared.telemetry.stamps import new_id

A, B = TenantId("tenant-a"), TenantId("tenant-b")
OLD = ServiceToken(service="agents", digest=digest_of("the old token"))
NEW = ServiceToken(service="agents", digest=digest_of("the new token"))
BOUND = ServiceToken(service="loader", digest=digest_of("the bound token"), tenants=frozenset({A}))


@pytest.fixture
def tokens() -> ServiceTokens:
    return ServiceTokens([OLD, NEW, BOUND])


@pytest.mark.parametrize(
    ("presented", "expected"), [("the old token", OLD), ("the new token", NEW), ("the bound token", BOUND)]
)
def test_every_live_token_is_found(tokens: ServiceTokens, presented: str, expected: ServiceToken) -> None:
    assert tokens.find(presented) is expected


@pytest.mark.parametrize("presented", ["", "the", "THE OLD TOKEN", "the old token ", "\ud800"])
def test_another_token_is_not(tokens: ServiceTokens, presented: str) -> None:
    assert tokens.find(presented) is None


def test_without_tokens_none_is_found() -> None:
    assert ServiceTokens([]).find("") is None


def test_a_bound_token_speaks_for_its_tenants_alone() -> None:
    BOUND.require_tenant(A)
    with pytest.raises(AuthenticationRefused) as raised:
        BOUND.require_tenant(B)

    assert raised.value.reason is RefusalReason.TOKEN_OF_OTHER_TENANT


def test_a_token_without_tenants_speaks_for_all() -> None:
    OLD.require_tenant(A)
    OLD.require_tenant(B)


def test_a_new_token_is_its_id_and_a_secret_and_shows_neither_when_it_is_printed() -> None:
    one, other = mint_token(lambda prefix: f"{prefix}_1"), mint_token(lambda prefix: f"{prefix}_1")

    assert one.id == "kgt_1"
    assert one.text.startswith("kgt_1.")
    assert len(one.text) == len("kgt_1.") + 43
    assert one.text != other.text
    assert one.text not in repr(one)
    assert one.sha256 == digest_of(one.text).hex()
    assert minted_id(one.text) == "kgt_1"


def test_ids_as_the_gateway_makes_them_fit_into_a_token() -> None:
    new = mint_token(new_id)

    assert minted_id(new.text) == new.id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kgt_1",
        "kgt_1.",
        "kgt_1." + "s" * 42,
        "kgt_1." + "s" * 44,
        "kgt_1." + "s" * 42 + "é",
        "kgt_." + "s" * 43,
        "kgt_A." + "s" * 43,
        "xkgt_1." + "s" * 43,
        "kgt_1." + "s" * 43 + "\n",
    ],
)
def test_what_does_not_look_like_a_minted_token_has_no_id(text: str) -> None:
    assert minted_id(text) is None
