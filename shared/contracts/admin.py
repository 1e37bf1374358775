"""The admin API: who may see what, who is shut out, and with which tokens services call. Ours, beside the contract."""

from typing import Annotated, Final

from pydantic import Field, model_validator

from shared.contracts.admin_route import admin_change, admin_read
from shared.contracts.body import Body, Unique, Whole
from shared.contracts.documents import EmptyRequest
from shared.contracts.enums import AccountStatus, Action, PrincipalKind, RevocationKind
from shared.contracts.ids import DocumentId, SpaceId, SubjectId
from shared.contracts.operating import OPERATING_ROUTES
from shared.contracts.paging import Listing, ListQuery
from shared.contracts.spaces import Space
from shared.contracts.text import BusinessId, Id, Reason, SecurityDomainCode, Text
from shared.contracts.wire import Maybe, UtcTime

MOST_MEMBERSHIPS: Final = 500
LONGEST_TOKEN_LIFE: Final = 10 * 365 * 24 * 3600
"""Seconds."""
SHORTEST_TOKEN_LIFE: Final = 60

Name = Annotated[str, Text(1, 256)]
"""A user, group or role as assertions call it."""
Names = Annotated[tuple[Name, ...], Field(max_length=MOST_MEMBERSHIPS), Unique()]
Domains = Annotated[tuple[SecurityDomainCode, ...], Field(max_length=MOST_MEMBERSHIPS), Unique()]
ServiceName = Annotated[str, Text(1, 128, solid=True)]
TokenText = Annotated[str, Field(min_length=1, max_length=256)]


class Principal(Body):
    """A user, a group or a role of the tenant."""

    kind: PrincipalKind
    name: Name


class GrantRequest(Body):
    """Grant a space, or one document of it, or take such a grant back."""

    document_id: Maybe[Id[DocumentId]] = None
    principal: Principal


class Grant(Body):
    """Who may act on what; without `documentId` it is the whole space."""

    space_id: Id[SpaceId]
    document_id: Maybe[Id[DocumentId]] = None
    principal: Principal
    created_by: Name
    created_at: UtcTime


class GrantList(Listing[Grant]):
    """One page of the grants on a space and on documents of it."""


class AccountPutRequest(Body):
    """What an account is to have from now on, whatever assertions say of it later."""

    groups: Names
    roles: Names
    domains: Domains


class Account(Body):
    """A user as the gateway knows them. Unless `managed`, memberships are those of the last assertion noted."""

    subject: Annotated[SubjectId, Text(1, 256)]
    status: AccountStatus
    managed: bool
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    domains: tuple[str, ...]
    created_at: UtcTime
    updated_at: UtcTime


class AccountList(Listing[Account]):
    """One page of a tenant's accounts."""


class SwitchRequest(Body):
    """Disable or enable an account or a space, and why."""

    reason: Maybe[Reason] = None


class RevocationRequest(Body):
    """Refuse what was issued until now: one assertion, those of a session, or those of a user.

    The value of an assertion is the SHA-256, in lower-case hex, of its signed part: everything before its last dot.
    """

    kind: RevocationKind
    value: Name

    @model_validator(mode="after")
    def _is_a_digest(self) -> "RevocationRequest":
        digits = set(self.value) <= set("0123456789abcdef")
        if self.kind is RevocationKind.ASSERTION and not (digits and len(self.value) == 64):
            raise ValueError("an assertion is named by the SHA-256 of its signed part in lower-case hex")
        return self


class Revocation(Body):
    """What is refused: assertions issued until `issuedUntil`. At `expiresAt` all of these have expired anyway."""

    kind: RevocationKind
    value: Name
    issued_until: UtcTime
    created_by: Name
    created_at: UtcTime
    expires_at: UtcTime


class RevocationList(Listing[Revocation]):
    """One page of a tenant's revocations."""


class ServiceTokenRequest(Body):
    """Make a token by which a service speaks for this tenant; without a life it is good until it is revoked."""

    service: ServiceName
    expires_in_seconds: Maybe[Annotated[int, Whole(SHORTEST_TOKEN_LIFE, LONGEST_TOKEN_LIFE)]] = None


class ServiceToken(Body):
    """A token as it is kept: without what it consists of."""

    token_id: BusinessId
    service: ServiceName
    created_by: Name
    created_at: UtcTime
    expires_at: Maybe[UtcTime] = None
    revoked_at: Maybe[UtcTime] = None


class ServiceTokenCreated(ServiceToken):
    """A new token. Its text is answered once and kept nowhere, so a repeated answer has none."""

    token: Maybe[TokenText] = None


class ServiceTokenList(Listing[ServiceToken]):
    """One page of a tenant's tokens, revoked ones among them."""


_GRANTS: Final = "/spaces/{spaceId}/grants"
_ONE_SPACE: Final = "/spaces/{spaceId}"
_ONE_ACCOUNT: Final = "/accounts/{subject}"
_ONE_TOKEN: Final = "/service-tokens/{tokenId}"
_ACCESS: Final = Action.MANAGE_ACCESS
_TOKENS: Final = Action.MANAGE_TOKENS

GRANT_LIST: Final = admin_read("admin_grant_list", _GRANTS, GrantList, _ACCESS, query=ListQuery)
GRANT_ADD: Final = admin_change("admin_grant_add", _GRANTS, GrantRequest, Grant, _ACCESS)
GRANT_REVOKE: Final = admin_change("admin_grant_revoke", f"{_GRANTS}:revoke", GrantRequest, Grant, _ACCESS)
ACCOUNT_LIST: Final = admin_read("admin_account_list", "/accounts", AccountList, _ACCESS, query=ListQuery)
ACCOUNT_GET: Final = admin_read("admin_account_get", _ONE_ACCOUNT, Account, _ACCESS)
ACCOUNT_PUT: Final = admin_change("admin_account_put", _ONE_ACCOUNT, AccountPutRequest, Account, _ACCESS, method="PUT")
ACCOUNT_DISABLE: Final = admin_change(
    "admin_account_disable", f"{_ONE_ACCOUNT}:disable", SwitchRequest, Account, _ACCESS
)
ACCOUNT_ENABLE: Final = admin_change("admin_account_enable", f"{_ONE_ACCOUNT}:enable", SwitchRequest, Account, _ACCESS)
REVOCATION_LIST: Final = admin_read("admin_revocation_list", "/revocations", RevocationList, _ACCESS, query=ListQuery)
REVOCATION_CREATE: Final = admin_change(
    "admin_revocation_create", "/revocations", RevocationRequest, Revocation, _ACCESS, status=201
)
TOKEN_LIST: Final = admin_read(
    "admin_service_token_list", "/service-tokens", ServiceTokenList, _TOKENS, query=ListQuery
)
TOKEN_CREATE: Final = admin_change(
    "admin_service_token_create", "/service-tokens", ServiceTokenRequest, ServiceTokenCreated, _TOKENS, status=201
)
TOKEN_REVOKE: Final = admin_change(
    "admin_service_token_revoke", f"{_ONE_TOKEN}:revoke", EmptyRequest, ServiceToken, _TOKENS
)
SPACE_DISABLE: Final = admin_change(
    "admin_space_disable", f"{_ONE_SPACE}:disable", SwitchRequest, Space, Action.MANAGE_SPACES
)
SPACE_ENABLE: Final = admin_change(
    "admin_space_enable", f"{_ONE_SPACE}:enable", SwitchRequest, Space, Action.MANAGE_SPACES
)

ADMIN_ROUTES: Final = (
    GRANT_LIST,
    GRANT_ADD,
    GRANT_REVOKE,
    ACCOUNT_LIST,
    ACCOUNT_GET,
    ACCOUNT_PUT,
    ACCOUNT_DISABLE,
    ACCOUNT_ENABLE,
    REVOCATION_LIST,
    REVOCATION_CREATE,
    TOKEN_LIST,
    TOKEN_CREATE,
    TOKEN_REVOKE,
    SPACE_DISABLE,
    SPACE_ENABLE,
    *OPERATING_ROUTES,
)
