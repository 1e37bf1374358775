"""Who may do what, and what they have done: grants, accounts, credentials, idempotency, audit."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from shared.contracts.enums import AccountStatus, PrincipalKind, RevocationKind
from shared.database.tables.columns import big, json_column, key, moment, one_of


class GrantRow(SQLModel, table=True):
    """A space, or one document of it, granted to a user, a group or a role. `document_id` is "" for the whole space."""

    __tablename__ = "access_grant"
    __table_args__ = (Index("grant_by_principal", "tenant_id", "principal_kind", "principal", "space_id"),)

    space_id: str = Field(foreign_key="space.id", primary_key=True)
    document_id: str = key(default="")
    principal_kind: PrincipalKind = one_of(PrincipalKind, primary_key=True)
    principal: str = key()
    tenant_id: str
    created_by: str
    created_at: datetime = moment()


class AccountRow(SQLModel, table=True):
    """A user of a tenant as the gateway itself knows them: for callers without an assertion, and to shut them out.

    Of an account that nobody manages here, groups, roles and domains are those of the last assertion that was noted.
    """

    __tablename__ = "account"

    tenant_id: str = key()
    subject: str = key()
    status: AccountStatus = one_of(AccountStatus)
    is_managed: bool
    groups: list[str] = json_column()
    roles: list[str] = json_column()
    domains: list[str] = json_column()
    created_at: datetime = moment()
    updated_at: datetime = moment()


class RevocationRow(SQLModel, table=True):
    """Assertions that are refused although their signature is good. The row may go when all of them have expired."""

    __tablename__ = "revocation"
    __table_args__ = (Index("revocation_expiry", "expires_at"),)

    tenant_id: str = key()
    kind: RevocationKind = one_of(RevocationKind, primary_key=True)
    value: str = key()
    issued_until: datetime = moment()
    """Assertions issued up to this moment are refused."""
    created_by: str
    created_at: datetime = moment()
    expires_at: datetime = moment()


class ServiceTokenRow(SQLModel, table=True):
    """A token by which a service speaks for one tenant. Several may be live at once, so that they can be rotated."""

    __tablename__ = "service_token"
    __table_args__ = (Index("service_token_of_tenant", "tenant_id", "created_at", "id"),)

    id: str = key()
    tenant_id: str
    service: str
    sha256: str
    created_by: str
    created_at: datetime = moment()
    expires_at: datetime | None = moment(nullable=True)
    revoked_at: datetime | None = moment(nullable=True)


class IdempotencyRow(SQLModel, table=True):
    """What was answered to a request with a key, so that the same request gets the same answer."""

    __tablename__ = "idempotency"
    __table_args__ = (Index("idempotency_expiry", "expires_at"),)

    tenant_id: str = key()
    subject: str = key()
    route: str = key()
    key: str = key()
    request_digest: str
    status_code: int
    data: dict[str, Any] = json_column()
    created_at: datetime = moment()
    expires_at: datetime = moment()


class AuditEntryRow(SQLModel, table=True):
    """One thing that happened. Append-only by trigger; `content_hash` covers every other column."""

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("audit_by_resource", "resource_id"),
        Index("audit_by_operation", "operation_id"),
    )

    id: str = key()
    tenant_id: str | None
    at: datetime = moment()
    actor: str
    """`api`, `projector`, `dispatcher` or `operator`."""
    service: str | None
    subject: str | None
    session_id: str | None
    tool_call_id: str | None
    request_id: str | None
    trace_id: str | None
    action: str
    resource_type: str | None
    resource_id: str | None
    operation_id: str | None
    parent_operation_id: str | None
    idempotency_digest: str | None
    before: str | None
    after: str | None
    outcome: str
    details: dict[str, Any] = json_column()
    content_hash: str


class AuditUnsealedRow(SQLModel, table=True):
    """The id of an entry that is not in the chain yet."""

    __tablename__ = "audit_unsealed"

    entry_id: str = Field(foreign_key="audit_entry.id", primary_key=True)


class AuditChainRow(SQLModel, table=True):
    """An entry's place in its tenant's chain; entries without a tenant stand in the chain `system`.

    Append-only by trigger. `seq` counts from 1 without a gap in the order of sealing, and `hash` is the SHA-256, in
    hex, of `<prev_hash>:<seq>:<content_hash>`; the first `prev_hash` is empty.
    """

    __tablename__ = "audit_chain"
    __table_args__ = (UniqueConstraint("entry_id", name="audit_chain_entry_once"),)

    chain: str = key()
    seq: int = big(primary_key=True)
    entry_id: str = Field(foreign_key="audit_entry.id")
    prev_hash: str
    hash: str
    sealed_at: datetime = moment()


class AuditPublicationRow(SQLModel, table=True):
    """How far a chain has been published to the audit stream, and up to where a checkpoint has been signed.

    `seq` counts for the stream of `stream_created` only: another stream holds nothing of the chain yet.
    """

    __tablename__ = "audit_publication"

    chain: str = key()
    stream_created: str
    seq: int = big()
    checkpoint_seq: int = big()
    checkpoint_at: datetime | None = moment(nullable=True)
