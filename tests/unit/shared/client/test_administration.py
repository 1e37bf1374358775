"""Every route of the admin API has its method, and every call of a change takes effect by itself."""

import re
from collections.abc import Awaitable, Callable

import pytest

from shared.client.administration import Administration
from shared.client.errors import Refused
from shared.contracts.admin import (
    ADMIN_ROUTES,
    AccountPutRequest,
    GrantRequest,
    Principal,
    RevocationRequest,
    ServiceTokenRequest,
    SwitchRequest,
)
from shared.contracts.enums import PrincipalKind, RevocationKind
from shared.contracts.ids import SpaceId, SubjectId
from shared.contracts.route import Route
from tests.unit.shared.client.answering import ScriptedGateway, refusal, success

SPC, WHO = SpaceId("x"), SubjectId("x")
GRANT = GrantRequest(principal=Principal(kind=PrincipalKind.GROUP, name="editors"))
SWITCH = SwitchRequest(reason="left")
ACCOUNT = {
    "subject": "x",
    "status": "DISABLED",
    "managed": False,
    "groups": [],
    "roles": [],
    "domains": [],
    "createdAt": "2026-03-01T12:00:00.000Z",
    "updatedAt": "2026-03-01T12:00:00.000Z",
}

CALLS: dict[str, Callable[[Administration], Awaitable[object]]] = {
    "admin_grant_list": lambda admin: admin.list_grants(SPC),
    "admin_grant_add": lambda admin: admin.add_grant(SPC, GRANT),
    "admin_grant_revoke": lambda admin: admin.revoke_grant(SPC, GRANT),
    "admin_account_list": lambda admin: admin.list_accounts(),
    "admin_account_get": lambda admin: admin.get_account(WHO),
    "admin_account_put": lambda admin: admin.put_account(WHO, AccountPutRequest(groups=(), roles=(), domains=())),
    "admin_account_disable": lambda admin: admin.disable_account(WHO, SWITCH),
    "admin_account_enable": lambda admin: admin.enable_account(WHO, SWITCH),
    "admin_revocation_list": lambda admin: admin.list_revocations(),
    "admin_revocation_create": lambda admin: admin.revoke(RevocationRequest(kind=RevocationKind.SUBJECT, value="x")),
    "admin_service_token_list": lambda admin: admin.list_tokens(),
    "admin_service_token_create": lambda admin: admin.create_token(ServiceTokenRequest(service="loader")),
    "admin_service_token_revoke": lambda admin: admin.revoke_token("x"),
    "admin_space_disable": lambda admin: admin.disable_space(SPC, SWITCH),
    "admin_space_enable": lambda admin: admin.enable_space(SPC, SWITCH),
}


def test_there_is_a_call_for_every_route() -> None:
    assert set(CALLS) == {route.tool for route in ADMIN_ROUTES}


@pytest.mark.parametrize("route", ADMIN_ROUTES, ids=lambda route: route.tool)
async def test_a_call_asks_for_its_route(route: Route) -> None:
    scripted = ScriptedGateway([refusal(403, "KNOWLEDGE_FORBIDDEN")])

    with pytest.raises(Refused):
        await CALLS[route.tool](Administration(scripted.exchange()))

    (request,) = scripted.asked
    assert request.method == route.method
    assert request.url.raw_path.partition(b"?")[0].decode() == re.sub(r"{\w+}", "x", route.path)
    assert ("Idempotency-Key" in request.headers) == route.idempotency_key
    assert bool(scripted.bodies[0]) == (route.request is not None)


async def test_the_same_change_asked_for_twice_has_two_keys_and_its_repetition_the_same() -> None:
    busy = refusal(503, "PROVIDER_UNAVAILABLE", retryable=True)
    scripted = ScriptedGateway([busy, success(ACCOUNT), success(ACCOUNT)])
    administration = Administration(scripted.exchange())

    for _ in range(2):
        await administration.disable_account(WHO, SWITCH)

    first, repeated, second = (request.headers["Idempotency-Key"] for request in scripted.asked)
    assert first == repeated
    assert second != first
