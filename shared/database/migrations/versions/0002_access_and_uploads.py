"""Accounts, revocations, service tokens, the audit chain, resumable uploads, and indexes of what each tenant has."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

MOMENT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Whole microseconds since 1970."""

UNFINISHED = sa.text("status IN ('PENDING', 'RUNNING')")
WAITING = sa.text("status = 'WAITING'")


def upgrade() -> None:
    _create_account()
    _create_revocation()
    _create_service_token()
    _create_audit_chain()
    _create_upload()
    op.create_index(
        "operation_unfinished_of_tenant",
        "operation",
        ["tenant_id"],
        sqlite_where=UNFINISHED,
        postgresql_where=UNFINISHED,
    )
    op.drop_index("purge_due", "purge")
    op.create_index("purge_due", "purge", ["tenant_id", "due_at", "id"], sqlite_where=WAITING, postgresql_where=WAITING)


def _create_account() -> None:
    op.create_table(
        "account",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("is_managed", sa.Boolean(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("domains", sa.JSON(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject"),
    )


def _create_revocation() -> None:
    op.create_table(
        "revocation",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("issued_until", MOMENT, nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "kind", "value"),
    )
    op.create_index("revocation_expiry", "revocation", ["expires_at"])


def _create_service_token() -> None:
    op.create_table(
        "service_token",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT),
        sa.Column("revoked_at", MOMENT),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("service_token_of_tenant", "service_token", ["tenant_id", "created_at", "id"])


def _create_audit_chain() -> None:
    op.create_table(
        "audit_chain",
        sa.Column("chain", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("entry_id", sa.String(), nullable=False),
        sa.Column("prev_hash", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("sealed_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("chain", "seq"),
        sa.ForeignKeyConstraint(["entry_id"], ["audit_entry.id"]),
        sa.UniqueConstraint("entry_id", name="audit_chain_entry_once"),
    )
    if op.get_context().dialect.name == "sqlite":
        for event in ("update", "delete"):
            op.execute(_SQLITE_GUARD.format(event=event))
        return
    op.execute(_POSTGRES_FUNCTION)
    for events, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        name = f"audit_chain_guard_{each.lower()}"
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {events} ON audit_chain "
            f"FOR EACH {each} EXECUTE FUNCTION audit_chain_refuse()"
        )


def _create_upload() -> None:
    op.add_column("file_resource", sa.Column("is_twin", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "upload",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.Column("file_resource_id", sa.String()),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("upload_expiry", "upload", ["expires_at"])
    op.create_table(
        "upload_part",
        sa.Column("upload_id", sa.String(), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("object_key", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "starts_at"),
        sa.ForeignKeyConstraint(["upload_id"], ["upload.id"]),
    )


_SQLITE_GUARD = """
CREATE TRIGGER audit_chain_{event} BEFORE {event} ON audit_chain
BEGIN SELECT RAISE(ABORT, 'audit_chain is append-only'); END
"""

_POSTGRES_FUNCTION = """
CREATE FUNCTION audit_chain_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'audit_chain is append-only'; END $$
"""
