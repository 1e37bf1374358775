"""Dead letters that are settled, reconciliations, and how far the audit is published."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

MOMENT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Whole microseconds since 1970."""

UNSETTLED = sa.text("status IN ('OPEN', 'REPLAYING')")
UNFINISHED = sa.text("status IN ('REQUESTED', 'RUNNING')")


def upgrade() -> None:
    _settle_dead_letters()
    _create_reconciliation()
    _create_audit_publication()


def _settle_dead_letters() -> None:
    """Those that lie there already are of the operations or purges that they name."""
    op.add_column("dead_letter", sa.Column("tenant_id", sa.String()))
    op.add_column("dead_letter", sa.Column("status", sa.String(), nullable=False, server_default="OPEN"))
    op.add_column("dead_letter", sa.Column("headers", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("dead_letter", sa.Column("message_id", sa.String()))
    op.add_column("dead_letter", sa.Column("settled_at", MOMENT))
    op.add_column("dead_letter", sa.Column("settled_by", sa.String()))
    op.execute(
        "UPDATE dead_letter SET tenant_id = coalesce("
        "(SELECT tenant_id FROM operation WHERE operation.id = owner_id), "
        "(SELECT tenant_id FROM purge WHERE purge.id = owner_id))"
    )
    with op.batch_alter_table("dead_letter") as table:
        table.alter_column("status", server_default=None)
        table.alter_column("headers", server_default=None)
    op.create_index("dead_letter_in_order", "dead_letter", ["tenant_id", "status", "created_at", "id"])
    op.create_index(
        "dead_letter_unsettled", "dead_letter", ["owner_id"], sqlite_where=UNSETTLED, postgresql_where=UNSETTLED
    )


def _create_reconciliation() -> None:
    op.create_table(
        "reconciliation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String()),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("applies", sa.Boolean(), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("error", sa.String()),
        sa.Column("totals", sa.JSON(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("reconciliation_in_order", "reconciliation", ["tenant_id", "created_at", "id"])
    op.create_index(
        "reconciliation_unfinished",
        "reconciliation",
        ["created_at"],
        sqlite_where=UNFINISHED,
        postgresql_where=UNFINISHED,
    )


def _create_audit_publication() -> None:
    op.create_table(
        "audit_publication",
        sa.Column("chain", sa.String(), nullable=False),
        sa.Column("stream_created", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("checkpoint_seq", sa.BigInteger(), nullable=False),
        sa.Column("checkpoint_at", MOMENT),
        sa.PrimaryKeyConstraint("chain"),
    )
