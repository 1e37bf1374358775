"""What moves messages: outbox, inbox, purges, the projector's position and its lease."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from shared.contracts.enums import LetterKind, LetterStatus, PurgeReason, ReconciliationStatus, Step
from shared.database.tables.columns import big, json_column, key, moment, one_of
from shared.domain.purge import PurgeStatus


class OutboxRow(SQLModel, table=True):
    """One command that no terminal event has answered yet. The row goes when one is projected.

    `published_at` null: it waits for its turn. `sequence` null beside it: the api published it itself.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        Index(
            "outbox_waiting",
            "step",
            "tenant_id",
            "due_at",
            "command_id",
            sqlite_where=text("published_at IS NULL"),
            postgresql_where=text("published_at IS NULL"),
        ),
        Index(
            "outbox_published",
            "step",
            "tenant_id",
            sqlite_where=text("published_at IS NOT NULL"),
            postgresql_where=text("published_at IS NOT NULL"),
        ),
    )

    owner_id: str = key()
    command_id: str = key()
    step: Step = one_of(Step)
    tenant_id: str
    subject: str
    body: bytes
    traceparent: str | None
    due_at: datetime = moment()
    created_at: datetime = moment()
    publication: int = 1
    """Raised by a deliberate re-publication; the message id is `<command>.<publication>`."""
    published_at: datetime | None = moment(nullable=True)
    sequence: int | None = big(nullable=True)
    stream_created: str | None = None
    """Which stream acknowledged it; another one means that the message is not there."""
    gone_after: int | None = big(nullable=True)
    """The events stream's last sequence, read after the message was found gone from the commands stream."""


class InboxRow(SQLModel, table=True):
    """The id of an event that has been applied; it outlives the event itself."""

    __tablename__ = "inbox"
    __table_args__ = (Index("inbox_by_age", "applied_at"),)

    event_id: str = key()
    applied_at: datetime = moment()


class PurgeRow(SQLModel, table=True):
    """One thing to be removed from the provider or the object store."""

    __tablename__ = "purge"
    __table_args__ = (
        Index(
            "purge_due",
            "tenant_id",
            "due_at",
            "id",
            sqlite_where=text("status = 'WAITING'"),
            postgresql_where=text("status = 'WAITING'"),
        ),
        Index("purge_by_version", "version_id"),
        Index(
            "purge_by_operation",
            "operation_id",
            sqlite_where=text("operation_id IS NOT NULL"),
            postgresql_where=text("operation_id IS NOT NULL"),
        ),
    )

    id: str = key()
    tenant_id: str
    step: Step = one_of(Step)
    reason: PurgeReason = one_of(PurgeReason)
    status: PurgeStatus = one_of(PurgeStatus)
    space_id: str | None
    document_id: str | None
    version_id: str | None
    native_document_id: str | None
    file_id: str | None
    operation_id: str | None
    attempt: int
    issue: int
    due_at: datetime = moment()
    created_at: datetime = moment()
    updated_at: datetime = moment()


class PositionRow(SQLModel, table=True):
    """How far the projector has come in a stream, stored with the state that it made of it."""

    __tablename__ = "projector_position"

    stream: str = key()
    stream_created: str
    sequence: int = big()
    message_id: str | None


class LeaseRow(SQLModel, table=True):
    """Who the active projector is. `expires_at` is by the database's clock; a takeover raises `epoch`."""

    __tablename__ = "lease"

    name: str = key()
    holder: str
    epoch: int = big()
    expires_at: datetime = moment()
    renewed_at: datetime = moment()


class DeadLetterRow(SQLModel, table=True):
    """A message that could not be read or applied; while it is not settled, its owner's commands stay where they are.

    `owner_id` is "" when not even that could be read; `tenant_id` null when it cannot be told whose it is.
    """

    __tablename__ = "dead_letter"
    __table_args__ = (
        Index("dead_letter_in_order", "tenant_id", "status", "created_at", "id"),
        Index(
            "dead_letter_unsettled",
            "owner_id",
            sqlite_where=text("status IN ('OPEN', 'REPLAYING')"),
            postgresql_where=text("status IN ('OPEN', 'REPLAYING')"),
        ),
    )

    id: str = Field(primary_key=True)
    tenant_id: str | None
    kind: LetterKind = one_of(LetterKind)
    status: LetterStatus = one_of(LetterStatus)
    owner_id: str
    subject: str
    headers: dict[str, Any] = json_column()
    body: bytes
    message_id: str | None
    error: str
    created_at: datetime = moment()
    settled_at: datetime | None = moment(nullable=True)
    settled_by: str | None


class ReconciliationRow(SQLModel, table=True):
    """One comparison of what we know with what provider and object store hold; without a tenant it is of all."""

    __tablename__ = "reconciliation"
    __table_args__ = (
        Index("reconciliation_in_order", "tenant_id", "created_at", "id"),
        Index(
            "reconciliation_unfinished",
            "created_at",
            sqlite_where=text("status IN ('REQUESTED', 'RUNNING')"),
            postgresql_where=text("status IN ('REQUESTED', 'RUNNING')"),
        ),
    )

    id: str = key()
    tenant_id: str | None
    status: ReconciliationStatus = one_of(ReconciliationStatus)
    applies: bool
    requested_by: str
    created_at: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    ended_at: datetime | None = moment(nullable=True)
    error: str | None
    totals: dict[str, Any] = json_column()
    """How many of each kind of finding."""
    findings: list[dict[str, Any]] = json_column()
