"""Who calls in the matrix, and what each of them may, told by tables of its own: nothing here asks the product.

A caller is a role and a relation to what they ask for. The relation says why they see it, or why they do not.
"""

from enum import Enum, StrEnum, auto

from tests.integration.api.harness import User


class Role(StrEnum):
    """What a caller's assertion says that they are."""

    READER = "knowledge-reader"
    MAINTAINER = "knowledge-maintainer"
    ADMIN = "knowledge-admin"
    GATEWAY_ADMIN = "gateway-admin"
    GATEWAY_OPERATOR = "gateway-operator"
    SYSTEM_OPERATOR = "system-operator"
    NONE = ""
    UNKNOWN = "emperor"


class Relation(Enum):
    """How a caller stands to what they ask for."""

    GRANTED_TO_USER = auto()
    GRANTED_TO_GROUP = auto()
    GRANTED_TO_ROLE = auto()
    DOCUMENT_ALONE = auto()
    NOT_GRANTED = auto()
    OTHER_DOMAIN = auto()
    OTHER_TENANT = auto()
    UNKNOWN_ID = auto()
    DELETED = auto()


class Sight(Enum):
    """What has to be seen for a thing to be there for a caller."""

    SPACE = auto()
    """The whole space, by a grant on it."""
    DOCUMENT = auto()
    """The document, by a grant on it or on its space."""
    PAST_DOCUMENT = auto()
    """As DOCUMENT, and it may be gone."""
    MANAGED = auto()
    """The space, by tenant and security domain alone: who manages access needs no grant."""
    TENANT = auto()
    """Something of the tenant as a whole."""
    OWN = auto()
    """Having brought it: in this tenant, by this name."""
    PAST_SPACE = auto()
    """As SPACE, and it may be gone."""


REAL = tuple(relation for relation in Relation if relation not in {Relation.UNKNOWN_ID, Relation.DELETED})
"""Relations of callers to what there is."""

_EVERYTHING = frozenset({Relation.GRANTED_TO_USER, Relation.GRANTED_TO_GROUP, Relation.GRANTED_TO_ROLE})
SEEN_BY = {
    Sight.SPACE: _EVERYTHING,
    Sight.DOCUMENT: _EVERYTHING | {Relation.DOCUMENT_ALONE},
    Sight.PAST_DOCUMENT: _EVERYTHING | {Relation.DOCUMENT_ALONE, Relation.DELETED},
    Sight.MANAGED: frozenset(REAL) - {Relation.OTHER_DOMAIN, Relation.OTHER_TENANT},
    Sight.TENANT: frozenset(REAL) - {Relation.OTHER_TENANT},
    Sight.OWN: frozenset({Relation.GRANTED_TO_USER, Relation.OTHER_DOMAIN}),
    Sight.PAST_SPACE: _EVERYTHING | {Relation.DELETED},
}

READS = frozenset({Role.READER, Role.MAINTAINER, Role.ADMIN, Role.GATEWAY_ADMIN})
"""Who may read."""
WRITES = READS - {Role.READER}
"""Who may change documents."""
RULES = WRITES - {Role.MAINTAINER}
"""Who may make, change and delete spaces, and delete documents."""

MANAGES = frozenset({Role.GATEWAY_ADMIN})
"""Who may manage access, tokens and the use of spaces."""

OPERATES = MANAGES | {Role.GATEWAY_OPERATOR, Role.SYSTEM_OPERATOR}
"""Who may see and end unfinished work, settle dead letters, reconcile, and read the audit."""

GRANTED_GROUP = "editors"
GRANTED_ROLE = "auditors"
"""A role that things are granted to and that allows nothing by itself."""


def caller(role: Role, relation: Relation) -> User:
    """Somebody of that role who stands like that to the granted space of the world."""
    roles = (role.value,) if role is not Role.NONE else ()
    granted = User(subject="grace", roles=roles, domains=("general",), session="matrix")
    match relation:
        case Relation.GRANTED_TO_USER | Relation.UNKNOWN_ID | Relation.DELETED:
            return granted
        case Relation.GRANTED_TO_GROUP:
            return _like(granted, subject="gina", groups=("others", GRANTED_GROUP))
        case Relation.GRANTED_TO_ROLE:
            return _like(granted, subject="greta", roles=(*roles, GRANTED_ROLE))
        case Relation.DOCUMENT_ALONE:
            return _like(granted, subject="dora")
        case Relation.NOT_GRANTED:
            # As many names as others are granted something by, each of the wrong kind.
            return _like(granted, subject=GRANTED_GROUP, groups=(GRANTED_ROLE, "grace"), roles=(*roles, "dora"))
        case Relation.OTHER_DOMAIN:
            return _like(granted, groups=(GRANTED_GROUP,), domains=("secret", "General"))
        case Relation.OTHER_TENANT:
            return _like(granted, tenant="globex", groups=(GRANTED_GROUP,), roles=(*roles, GRANTED_ROLE))


def _like(
    user: User,
    *,
    subject: str | None = None,
    tenant: str | None = None,
    groups: tuple[str, ...] = (),
    roles: tuple[str, ...] | None = None,
    domains: tuple[str, ...] | None = None,
) -> User:
    return User(
        subject=subject or user.subject,
        tenant=tenant or user.tenant,
        groups=groups,
        roles=user.roles if roles is None else roles,
        domains=user.domains if domains is None else domains,
        session=user.session,
    )
