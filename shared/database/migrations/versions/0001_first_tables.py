"""The first tables: spaces, documents, versions, operations, what moves messages, access, audit."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

MOMENT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Whole microseconds since 1970."""

UNFINISHED = "status IN ('PENDING', 'RUNNING')"
RUNNING_WORK = f"{UNFINISHED} AND type <> 'DOCUMENT_DELETE'"


def upgrade() -> None:
    _create_audit_entry()
    _create_dead_letter()
    _create_file()
    _create_idempotency()
    _create_inbox()
    _create_lease()
    _create_operation()
    _create_outbox()
    _create_projector_position()
    _create_purge()
    _create_space()
    _create_access_grant()
    _create_audit_unsealed()
    _create_document()
    _create_file_resource()
    _create_document_tag()
    _create_document_version()
    _make_audit_append_only()


def _create_audit_entry() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String()),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("service", sa.String()),
        sa.Column("subject", sa.String()),
        sa.Column("session_id", sa.String()),
        sa.Column("tool_call_id", sa.String()),
        sa.Column("request_id", sa.String()),
        sa.Column("trace_id", sa.String()),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("resource_type", sa.String()),
        sa.Column("resource_id", sa.String()),
        sa.Column("operation_id", sa.String()),
        sa.Column("parent_operation_id", sa.String()),
        sa.Column("idempotency_digest", sa.String()),
        sa.Column("before", sa.String()),
        sa.Column("after", sa.String()),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("audit_by_operation", "audit_entry", ["operation_id"])
    op.create_index("audit_by_resource", "audit_entry", ["resource_id"])


def _create_dead_letter() -> None:
    op.create_table(
        "dead_letter",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("error", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _create_file() -> None:
    op.create_table(
        "file",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("object_key", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("object_key", name="file_object_once"),
    )
    _create_partial_index("file_live_once", "file", ["tenant_id", "sha256"], "status = 'LIVE'", unique=True)


def _create_idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject", "route", "key"),
    )
    op.create_index("idempotency_expiry", "idempotency", ["expires_at"])


def _create_inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("applied_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("event_id"),
    )
    op.create_index("inbox_by_age", "inbox", ["applied_at"])


def _create_lease() -> None:
    op.create_table(
        "lease",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("renewed_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _create_operation() -> None:
    op.create_table(
        "operation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("resource_type", sa.String(), nullable=False),
        sa.Column("resource_id", sa.String(), nullable=False),
        sa.Column("space_id", sa.String(), nullable=False),
        sa.Column("document_id", sa.String()),
        sa.Column("version_id", sa.String()),
        sa.Column("root_id", sa.String(), nullable=False),
        sa.Column("parent_id", sa.String()),
        sa.Column("manual_attempt", sa.Integer(), nullable=False),
        sa.Column("work_command_id", sa.String()),
        sa.Column("cancel_command_id", sa.String()),
        sa.Column("retry_count", sa.Integer(), nullable=False),
        sa.Column("last_retry_at", MOMENT),
        sa.Column("next_retry_at", MOMENT),
        sa.Column("cancel_requested_at", MOMENT),
        sa.Column("failure_reason", sa.String()),
        sa.Column("failure_text", sa.String()),
        sa.Column("is_retryable", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("heard_at", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("operation_by_document", "operation", ["document_id"])
    _create_partial_index("operation_by_root", "operation", ["root_id"], "parent_id IS NOT NULL")
    op.create_index("operation_in_order", "operation", ["tenant_id", "created_at", "id"])
    _create_partial_index(
        "operation_one_at_a_time",
        "operation",
        ["document_id"],
        RUNNING_WORK,
        unique=True,
    )
    _create_partial_index("operation_unfinished", "operation", ["space_id", "created_at"], UNFINISHED)


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("command_id", sa.String(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("traceparent", sa.String()),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("publication", sa.Integer(), nullable=False),
        sa.Column("published_at", MOMENT),
        sa.Column("sequence", sa.BigInteger()),
        sa.Column("stream_created", sa.String()),
        sa.Column("gone_after", sa.BigInteger()),
        sa.PrimaryKeyConstraint("owner_id", "command_id"),
    )
    _create_partial_index("outbox_published", "outbox", ["step", "tenant_id"], "published_at IS NOT NULL")
    _create_partial_index(
        "outbox_waiting", "outbox", ["step", "tenant_id", "due_at", "command_id"], "published_at IS NULL"
    )


def _create_projector_position() -> None:
    op.create_table(
        "projector_position",
        sa.Column("stream", sa.String(), nullable=False),
        sa.Column("stream_created", sa.String(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("message_id", sa.String()),
        sa.PrimaryKeyConstraint("stream"),
    )


def _create_purge() -> None:
    op.create_table(
        "purge",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("space_id", sa.String()),
        sa.Column("document_id", sa.String()),
        sa.Column("version_id", sa.String()),
        sa.Column("native_document_id", sa.String()),
        sa.Column("file_id", sa.String()),
        sa.Column("operation_id", sa.String()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("issue", sa.Integer(), nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _create_partial_index("purge_by_operation", "purge", ["operation_id"], "operation_id IS NOT NULL")
    op.create_index("purge_by_version", "purge", ["version_id"])
    _create_partial_index("purge_due", "purge", ["due_at"], "status = 'WAITING'")


def _create_space() -> None:
    op.create_table(
        "space",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String()),
        sa.Column("profile", sa.JSON(), nullable=False),
        sa.Column("security_domain", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("lock_version", sa.Integer(), nullable=False),
        sa.Column("native_id", sa.String()),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _create_partial_index("space_code_once", "space", ["tenant_id", "code"], "status <> 'DELETED'", unique=True)
    op.create_index("space_in_order", "space", ["tenant_id", "created_at", "id"])


def _create_access_grant() -> None:
    op.create_table(
        "access_grant",
        sa.Column("space_id", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("principal_kind", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("space_id", "document_id", "principal_kind", "principal"),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"]),
    )
    op.create_index("grant_by_principal", "access_grant", ["tenant_id", "principal_kind", "principal", "space_id"])


def _create_audit_unsealed() -> None:
    op.create_table(
        "audit_unsealed",
        sa.Column("entry_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id"),
        sa.ForeignKeyConstraint(["entry_id"], ["audit_entry.id"]),
    )


def _create_document() -> None:
    op.create_table(
        "document",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("space_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("category", sa.String()),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("version_label", sa.String()),
        sa.Column("product_code", sa.String()),
        sa.Column("lock_version", sa.Integer(), nullable=False),
        sa.Column("active_version_id", sa.String()),
        sa.Column("candidate_version_id", sa.String()),
        sa.Column("last_version_number", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"]),
    )
    op.create_index("document_in_order", "document", ["space_id", "created_at", "id"])


def _create_file_resource() -> None:
    op.create_table(
        "file_resource",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("file_id", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"]),
    )
    op.create_index("file_resource_by_file", "file_resource", ["file_id"])
    op.create_index("file_resource_expiry", "file_resource", ["expires_at"])


def _create_document_tag() -> None:
    op.create_table(
        "document_tag",
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("tag", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "tag"),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
    )


def _create_document_version() -> None:
    op.create_table(
        "document_version",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("space_id", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("operation_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("change_type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("file_id", sa.String(), nullable=False),
        sa.Column("object_key", sa.String(), nullable=False),
        sa.Column("file_size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("native_document_id", sa.String()),
        sa.Column("chunk_count", sa.Integer()),
        sa.Column("progress_percent", sa.Integer()),
        sa.Column("progress_updated_at", MOMENT),
        sa.Column("failure_reason", sa.String()),
        sa.Column("failure_text", sa.String()),
        sa.Column("is_retryable", sa.Boolean(), nullable=False),
        sa.Column("failed_step", sa.String()),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("processing_started_at", MOMENT),
        sa.Column("ready_at", MOMENT),
        sa.Column("activated_at", MOMENT),
        sa.Column("failed_at", MOMENT),
        sa.Column("cancelled_at", MOMENT),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.UniqueConstraint("document_id", "number", name="version_number_once"),
    )
    op.create_index("version_by_file", "document_version", ["file_id"])


def _create_partial_index(name: str, table: str, columns: Sequence[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


_SQLITE_GUARD = """
CREATE TRIGGER audit_entry_{event} BEFORE {event} ON audit_entry
BEGIN SELECT RAISE(ABORT, 'audit_entry is append-only'); END
"""

_POSTGRES_FUNCTION = """
CREATE FUNCTION audit_entry_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'audit_entry is append-only'; END $$
"""


def _make_audit_append_only() -> None:
    if op.get_context().dialect.name == "sqlite":
        for event in ("update", "delete"):
            op.execute(_SQLITE_GUARD.format(event=event))
        return
    op.execute(_POSTGRES_FUNCTION)
    for events, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        name = f"audit_entry_guard_{each.lower()}"
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {events} ON audit_entry "
            f"FOR EACH {each} EXECUTE FUNCTION audit_entry_refuse()"
        )
