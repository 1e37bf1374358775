"""Service tokens: several live at once, each for its tenants."""

import pytest

from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.service_tokens import ServiceToken, ServiceTokens, digest_of
from shared.contracts.ids import TenantId

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
def test_every_live_token_is_recognised(tokens: ServiceTokens, presented: str, expected: ServiceToken) -> None:
    assert tokens.recognise(presented) is expected


@pytest.mark.parametrize("presented", ["", "the", "THE OLD TOKEN", "the old token ", "\ud800"])
def test_another_token_is_refused(tokens: ServiceTokens, presented: str) -> None:
    with pytest.raises(AuthenticationRefused) as raised:
        tokens.recognise(presented)

    assert raised.value.reason is RefusalReason.TOKEN_UNKNOWN


def test_without_tokens_nobody_is_recognised() -> None:
    with pytest.raises(AuthenticationRefused):
        ServiceTokens([]).recognise("")


def test_a_bound_token_speaks_for_its_tenants_alone() -> None:
    BOUND.require_tenant(A)
    with pytest.raises(AuthenticationRefused) as raised:
        BOUND.require_tenant(B)

    assert raised.value.reason is RefusalReason.TOKEN_OF_OTHER_TENANT


def test_a_token_without_tenants_speaks_for_all() -> None:
    OLD.require_tenant(A)
    OLD.require_tenant(B)
