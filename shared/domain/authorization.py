"""Who may do what to which resources: one predicate, as a value. `database` compiles it to SQL.

A caller may act on a resource when all of these hold: the tenant is theirs, one of their roles allows
the action, the space's security domain is among their domains, and the space or the document is
granted to them, to one of their groups or to one of their roles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from shared.contracts.enums import Action, OperationType, PrincipalKind, ResourceType
from shared.contracts.ids import TenantId
from shared.domain.errors import Forbidden
from shared.domain.identity import Caller

RoleTable = Mapping[str, frozenset[Action]]
"""The actions that each role allows."""

_READ = frozenset(
    {
        Action.SPACE_VIEW,
        Action.DOCUMENT_VIEW,
        Action.DOCUMENT_DOWNLOAD,
        Action.KNOWLEDGE_SEARCH,
        Action.RESOURCE_VIEW,
    }
)
_WRITE = _READ | {
    Action.DOCUMENT_UPLOAD,
    Action.DOCUMENT_UPDATE,
    Action.DOCUMENT_REINDEX,
    Action.ORIGINAL_OPERATION_PERMISSION,
    Action.OPERATION_RETRY,
}

_MANAGE = frozenset(
    {
        Action.MANAGE_ACCESS,
        Action.MANAGE_TOKENS,
        Action.MANAGE_SPACES,
        Action.MANAGE_OPERATIONS,
        Action.MANAGE_SYSTEM,
        Action.VIEW_AUDIT,
    }
)

DEFAULT_ROLES: RoleTable = {
    "knowledge-reader": _READ,
    "knowledge-maintainer": _WRITE,
    "knowledge-admin": frozenset(Action) - _MANAGE,
    "gateway-operator": frozenset({Action.MANAGE_OPERATIONS, Action.VIEW_AUDIT}),
    "gateway-admin": frozenset(Action) - {Action.MANAGE_SYSTEM},
    "system-operator": frozenset({Action.MANAGE_OPERATIONS, Action.MANAGE_SYSTEM, Action.VIEW_AUDIT}),
}
"""Three roles that match the agents' three tool sets, one for people who manage access, and two for people who keep
it running: in their tenant, and of the whole installation. A deployment may configure others."""

OPERATION_ACTIONS: Mapping[OperationType, Action] = MappingProxyType(
    {
        OperationType.SPACE_CREATE: Action.SPACE_CREATE,
        OperationType.SPACE_UPDATE: Action.SPACE_UPDATE,
        OperationType.SPACE_DELETE: Action.SPACE_DELETE,
        OperationType.DOCUMENT_UPLOAD: Action.DOCUMENT_UPLOAD,
        OperationType.DOCUMENT_UPDATE: Action.DOCUMENT_UPDATE,
        OperationType.DOCUMENT_REPLACE: Action.DOCUMENT_UPDATE,
        OperationType.DOCUMENT_ENABLE: Action.DOCUMENT_UPDATE,
        OperationType.DOCUMENT_DISABLE: Action.DOCUMENT_UPDATE,
        OperationType.DOCUMENT_REINDEX: Action.DOCUMENT_REINDEX,
        OperationType.DOCUMENT_DELETE: Action.DOCUMENT_DELETE,
    }
)
"""What `ORIGINAL_OPERATION_PERMISSION` means for an operation: the action that its own command needed."""

RESOURCE_ACTIONS: Mapping[ResourceType, Action] = MappingProxyType(
    {ResourceType.SPACE: Action.SPACE_VIEW, ResourceType.DOCUMENT: Action.DOCUMENT_VIEW}
)
"""What `RESOURCE_VIEW` means for an operation: seeing what it is about."""


@dataclass(frozen=True, slots=True, order=True)
class Principal:
    """One user, group or role of a tenant."""

    kind: PrincipalKind
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The resources a caller may act on: in this tenant, in these domains, granted to one of these principals."""

    tenant_id: TenantId
    domains: frozenset[str]
    principals: frozenset[Principal]


def principals_of(caller: Caller) -> frozenset[Principal]:
    """The caller as everything that something may be granted to."""
    return frozenset(
        {
            Principal(PrincipalKind.USER, caller.subject),
            *(Principal(PrincipalKind.GROUP, group) for group in caller.groups),
            *(Principal(PrincipalKind.ROLE, role) for role in caller.roles),
        }
    )


def reach(caller: Caller, action: Action, roles: RoleTable) -> Reach:
    """How far the caller reaches with this action; Forbidden when no role of theirs allows it at all."""
    require_action(caller, action, roles)
    return Reach(tenant_id=caller.tenant, domains=frozenset(caller.domains), principals=principals_of(caller))


def allows(caller: Caller, action: Action, roles: RoleTable) -> bool:
    """Whether any role of the caller allows the action."""
    return any(action in roles.get(role, frozenset()) for role in caller.roles)


def require_action(caller: Caller, action: Action, roles: RoleTable) -> None:
    """Refuse when no role of the caller allows the action; what may be seen is another question."""
    if not allows(caller, action, roles):
        raise Forbidden(f"None of your roles allows {action.value}.")


def require_domain(caller: Caller, security_domain: str) -> None:
    """Refuse to put something into a security domain that is not the caller's."""
    if security_domain not in caller.domains:
        raise Forbidden("The security domain is not one of yours.")
