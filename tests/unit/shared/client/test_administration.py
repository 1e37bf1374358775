"""Every route of the admin API has its method, and every call of a change takes effect by itself."""

import re
from collections.abc import Awaitable, Callable

import pytest

from shared.client.administration import Administration
from shared.client.errors import Refused
from shared.client.exchange import Exchange
from shared.client.operating import Operating
from shared.contracts.admin import (
    ADMIN_ROUTES,
    AccountPutRequest,
    GrantRequest,
    Principal,
    RevocationRequest,
    ServiceTokenRequest,
    SwitchRequest,
)
from shared.contracts.enums import LetterStatus, PrincipalKind, RevocationKind
from shared.contracts.ids import LetterId, OperationId, ReconciliationId, SpaceId, SubjectId
from shared.contracts.operating import ReconciliationRequest
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.route import Route
from tests.unit.shared.client.answering import ScriptedGateway, refusal, success

SPC, WHO = SpaceId("x"), SubjectId("x")
GRANT = GrantRequest(principal=Principal(kind=PrincipalKind.GROUP, name="editors"))
SWITCH = SwitchRequest(reason="left")
REASON = OperationReasonRequest(reason="It is stuck.")
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


OPERATING_CALLS: dict[str, Callable[[Operating], Awaitable[object]]] = {
    "admin_operation_list": lambda operating: operating.list_unfinished(overdue=True, older_than_seconds=60),
    "admin_operation_get": lambda operating: operating.get_unfinished(OperationId("x")),
    "admin_operation_fail": lambda operating: operating.fail_operation(OperationId("x"), REASON),
    "admin_dead_letter_list": lambda operating: operating.list_letters(status=LetterStatus.DISCARDED),
    "admin_dead_letter_get": lambda operating: operating.get_letter(LetterId("x")),
    "admin_dead_letter_replay": lambda operating: operating.replay_letter(LetterId("x"), REASON),
    "admin_dead_letter_discard": lambda operating: operating.discard_letter(LetterId("x"), REASON),
    "admin_reconciliation_create": lambda operating: operating.request_reconciliation(ReconciliationRequest()),
    "admin_reconciliation_list": lambda operating: operating.list_reconciliations(),
    "admin_reconciliation_get": lambda operating: operating.get_reconciliation(ReconciliationId("x")),
    "admin_audit_read": lambda operating: operating.read_audit(latest=True),
}


async def call(route: Route, exchange: Exchange) -> None:
    """Call what stands for the route."""
    if route.tool in CALLS:
        await CALLS[route.tool](Administration(exchange))
    else:
        await OPERATING_CALLS[route.tool](Operating(exchange))


def test_there_is_a_call_for_every_route() -> None:
    assert [*CALLS, *OPERATING_CALLS] == [route.tool for route in ADMIN_ROUTES]


@pytest.mark.parametrize("route", ADMIN_ROUTES, ids=lambda route: route.tool)
async def test_a_call_asks_for_its_route(route: Route) -> None:
    scripted = ScriptedGateway([refusal(403, "KNOWLEDGE_FORBIDDEN")])

    with pytest.raises(Refused):
        await call(route, scripted.exchange())

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
