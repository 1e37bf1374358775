"""Spaces, documents, versions and operations: the state that events and requests move."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    FailureReason,
    OperationStatus,
    OperationType,
    ResourceType,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.database.tables.columns import big, json_column, key, moment, one_of


class SpaceRow(SQLModel, table=True):
    """One knowledge space. Its code is unique per tenant among those that are not DELETED."""

    __tablename__ = "space"
    __table_args__ = (
        Index(
            "space_code_once",
            "tenant_id",
            "code",
            unique=True,
            sqlite_where=text("status <> 'DELETED'"),
            postgresql_where=text("status <> 'DELETED'"),
        ),
        Index("space_in_order", "tenant_id", "created_at", "id"),
    )

    id: str = key()
    tenant_id: str
    code: str
    name: str
    description: str | None
    profile: dict[str, Any] = json_column()
    security_domain: str
    status: SpaceStatus = one_of(SpaceStatus)
    lock_version: int
    native_id: str | None
    created_by: str
    created_at: datetime = moment()
    updated_at: datetime = moment()


class DocumentRow(SQLModel, table=True):
    """One document with its two version slots."""

    __tablename__ = "document"
    __table_args__ = (Index("document_in_order", "space_id", "created_at", "id"),)

    id: str = key()
    tenant_id: str
    space_id: str = Field(foreign_key="space.id")
    name: str
    status: DocumentStatus = one_of(DocumentStatus)
    category: str | None
    tags: list[str] = json_column()
    version_label: str | None
    product_code: str | None
    lock_version: int
    active_version_id: str | None
    candidate_version_id: str | None
    last_version_number: int
    created_by: str
    created_at: datetime = moment()
    updated_at: datetime = moment()


class DocumentTagRow(SQLModel, table=True):
    """A document's tags once more, one a row, so that both databases can filter by them."""

    __tablename__ = "document_tag"
    document_id: str = Field(foreign_key="document.id", primary_key=True)
    tag: str = key()


class VersionRow(SQLModel, table=True):
    """One version of a document: one file, one provider document."""

    __tablename__ = "document_version"
    __table_args__ = (
        UniqueConstraint("document_id", "number", name="version_number_once"),
        Index("version_by_file", "file_id"),
    )

    id: str = key()
    tenant_id: str
    space_id: str
    document_id: str = Field(foreign_key="document.id")
    operation_id: str
    number: int
    change_type: ChangeType = one_of(ChangeType)
    status: VersionStatus = one_of(VersionStatus)
    file_id: str
    object_key: str
    file_size: int = big()
    sha256: str
    content_type: str
    file_name: str
    native_document_id: str | None
    chunk_count: int | None
    progress_percent: int | None
    progress_updated_at: datetime | None = moment(nullable=True)
    failure_reason: FailureReason | None = one_of(FailureReason, nullable=True)
    failure_text: str | None
    is_retryable: bool
    failed_step: Step | None = one_of(Step, nullable=True)
    created_at: datetime = moment()
    updated_at: datetime = moment()
    processing_started_at: datetime | None = moment(nullable=True)
    ready_at: datetime | None = moment(nullable=True)
    activated_at: datetime | None = moment(nullable=True)
    failed_at: datetime | None = moment(nullable=True)
    cancelled_at: datetime | None = moment(nullable=True)


UNFINISHED = "status IN ('PENDING', 'RUNNING')"
"""The condition for an operation that has not ended, as the indexes and the queries that use them have it."""

_UNFINISHED = text(UNFINISHED)
_RUNNING_WORK = text(f"{UNFINISHED} AND type <> 'DOCUMENT_DELETE'")


class OperationRow(SQLModel, table=True):
    """One accepted piece of work. At most one that is not a delete runs on a document at a time.

    Every status that an index holds is written again with each save, so indexes on it hold unfinished work alone.
    """

    __tablename__ = "operation"
    __table_args__ = (
        Index(
            "operation_one_at_a_time",
            "document_id",
            unique=True,
            sqlite_where=_RUNNING_WORK,
            postgresql_where=_RUNNING_WORK,
        ),
        Index(
            "operation_unfinished",
            "space_id",
            "created_at",
            sqlite_where=_UNFINISHED,
            postgresql_where=_UNFINISHED,
        ),
        Index(
            "operation_unfinished_of_tenant",
            "tenant_id",
            sqlite_where=_UNFINISHED,
            postgresql_where=_UNFINISHED,
        ),
        Index("operation_in_order", "tenant_id", "created_at", "id"),
        Index("operation_by_document", "document_id"),
        Index(
            "operation_by_root",
            "root_id",
            sqlite_where=text("parent_id IS NOT NULL"),
            postgresql_where=text("parent_id IS NOT NULL"),
        ),
    )

    id: str = key()
    tenant_id: str
    type: OperationType = one_of(OperationType)
    status: OperationStatus = one_of(OperationStatus)
    resource_type: ResourceType = one_of(ResourceType)
    resource_id: str
    space_id: str
    document_id: str | None
    version_id: str | None
    root_id: str
    parent_id: str | None
    manual_attempt: int
    work_command_id: str | None
    cancel_command_id: str | None
    retry_count: int
    last_retry_at: datetime | None = moment(nullable=True)
    next_retry_at: datetime | None = moment(nullable=True)
    cancel_requested_at: datetime | None = moment(nullable=True)
    failure_reason: FailureReason | None = one_of(FailureReason, nullable=True)
    failure_text: str | None
    is_retryable: bool
    created_by: str
    created_at: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    heard_at: datetime | None = moment(nullable=True)
    ended_at: datetime | None = moment(nullable=True)
    updated_at: datetime = moment()
