"""Who reaches what: by role, by domain, by grant."""

import pytest

from shared.contracts.enums import Action, PrincipalKind
from shared.contracts.ids import SubjectId, TenantId
from shared.domain.authorization import DEFAULT_ROLES, Principal, reach, require_domain
from shared.domain.errors import Forbidden
from shared.domain.identity import Caller

READER = Caller(
    tenant=TenantId("acme"),
    subject=SubjectId("ana"),
    groups=("support",),
    roles=("knowledge-reader", "unheard-of"),
    domains=("internal",),
    session_id="s-1",
    service="agents",
)


def test_a_reader_reaches_what_is_granted_to_them_their_groups_or_their_roles() -> None:
    reached = reach(READER, Action.KNOWLEDGE_SEARCH, DEFAULT_ROLES)
    assert reached.tenant_id == "acme"
    assert reached.domains == {"internal"}
    assert reached.principals == {
        Principal(PrincipalKind.USER, "ana"),
        Principal(PrincipalKind.GROUP, "support"),
        Principal(PrincipalKind.ROLE, "knowledge-reader"),
        Principal(PrincipalKind.ROLE, "unheard-of"),
    }


@pytest.mark.parametrize("action", [Action.DOCUMENT_UPLOAD, Action.DOCUMENT_UPDATE, Action.SPACE_CREATE])
def test_a_reader_may_not_write(action: Action) -> None:
    with pytest.raises(Forbidden, match=action.value):
        reach(READER, action, DEFAULT_ROLES)


def test_only_an_administrator_deletes() -> None:
    allowed = {role for role, actions in DEFAULT_ROLES.items() if Action.DOCUMENT_DELETE in actions}
    assert allowed == {"knowledge-admin", "gateway-admin"}


def test_nobody_puts_anything_into_a_domain_that_is_not_theirs() -> None:
    require_domain(READER, "internal")
    with pytest.raises(Forbidden, match="domain"):
        require_domain(READER, "secret")
