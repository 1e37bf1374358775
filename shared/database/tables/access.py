"""Files, grants, idempotency and audit: what callers own, may do, have asked, and have done."""

from datetime import datetime
from enum import StrEnum, unique
from typing import Any

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from shared.database.tables.columns import big, json_column, key, moment, one_of
from shared.domain.authorization import PrincipalKind


@unique
class FileStatus(StrEnum):
    """LIVE may be adopted by a twin; PURGING may not and is about to be deleted."""

    LIVE = "LIVE"
    PURGING = "PURGING"


class FileRow(SQLModel, table=True):
    """One stored object. Of equal bytes a tenant has one LIVE file."""

    __tablename__ = "file"
    __table_args__ = (
        Index(
            "file_live_once",
            "tenant_id",
            "sha256",
            unique=True,
            sqlite_where=text("status = 'LIVE'"),
            postgresql_where=text("status = 'LIVE'"),
        ),
        UniqueConstraint("object_key", name="file_object_once"),
    )

    id: str = key()
    tenant_id: str
    sha256: str
    size: int = big()
    object_key: str
    status: FileStatus = one_of(FileStatus)
    created_at: datetime = moment()


class FileResourceRow(SQLModel, table=True):
    """One uploaded file as its uploader names it; it expires unless a version takes its file."""

    __tablename__ = "file_resource"
    __table_args__ = (Index("file_resource_by_file", "file_id"), Index("file_resource_expiry", "expires_at"))

    id: str = key()
    tenant_id: str
    subject: str
    file_id: str = Field(foreign_key="file.id")
    file_name: str
    content_type: str
    created_at: datetime = moment()
    expires_at: datetime = moment()


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
