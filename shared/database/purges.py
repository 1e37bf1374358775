"""Purges as rows."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache

from sqlalchemy import Connection

from shared.database.codec import RowCodec
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.settings import SQLITE
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.pipeline import PurgeRow
from shared.domain.purge import Purge

_TABLE = table_of(PurgeRow)
_CODEC = RowCodec(_TABLE, Purge)
_ROWS = TableRows(_TABLE, _CODEC.columns)
_CHANGING = ("reason", "status", "operation_id", "attempt", "issue", "due_at", "updated_at")

# As in the outbox, the tenants are found by skipping through the index, and of each only its first rows are looked at.
_DUE = """
WITH RECURSIVE tenant(id) AS (
    SELECT min(tenant_id) FROM purge WHERE status = 'WAITING'
    UNION ALL
    SELECT (SELECT min(tenant_id) FROM purge WHERE status = 'WAITING' AND tenant_id > tenant.id)
    FROM tenant WHERE tenant.id IS NOT NULL
),
placed AS (
    SELECT ready.*, row_number() OVER (PARTITION BY ready.tenant_id ORDER BY ready.due_at, ready.id) AS place
    FROM tenant {first_of_tenant}
)
SELECT {columns} FROM placed ORDER BY place, due_at, id LIMIT :limit
"""

_FIRST = """SELECT {selected} FROM purge
        WHERE purge.status = 'WAITING' AND purge.tenant_id = tenant.id AND purge.due_at <= :now
            AND NOT EXISTS (
                SELECT 1 FROM operation
                JOIN outbox ON outbox.owner_id = operation.id
                WHERE operation.document_id = purge.document_id AND operation.version_id = purge.version_id
                    AND outbox.published_at IS NOT NULL AND outbox.gone_after IS NULL
            )
            AND NOT EXISTS (
                SELECT 1 FROM purge AS other
                WHERE other.version_id = purge.version_id AND (
                    other.status = 'ISSUED'
                    OR other.status = 'WAITING' AND (other.due_at, other.id) < (purge.due_at, purge.id)
                )
            )
        ORDER BY purge.due_at, purge.id LIMIT :limit"""
"""A purge starts only when every published command of its version is closed or no longer in the stream, and of the
purges of a version one at a time. What cannot start takes none of the `limit` rows of its tenant."""


def load_purges(conn: Connection, ids: Collection[str], *, lock: Lock = Lock.NONE) -> dict[str, Purge]:
    """The purges with these ids, by id; ids that name none are left out."""
    return {purge.id: purge for purge in _CODEC.read(_ROWS.by_key(conn, ids, lock))}


def insert_purges(conn: Connection, purges: Sequence[Purge]) -> None:
    """Store new purges."""
    _ROWS.insert(conn, _CODEC.write(purges))


def save_purges(conn: Connection, purges: Sequence[Purge]) -> None:
    """Store what may change of purges that are there."""
    _ROWS.update(conn, _CHANGING, _CODEC.write(purges, (*_CHANGING, "id")))


def due_purges(conn: Connection, now: datetime, *, limit: int) -> list[Purge]:
    """Up to `limit` waiting purges that are due and whose version no command is out for, one of each version.

    Tenants take turns; of each the oldest come first.
    """
    text = _due_text(conn.dialect.name, _CODEC.columns)
    return _CODEC.read(run(conn, text, now=to_microseconds(now), limit=limit).all())


def lock_waiting_purges(conn: Connection, version_ids: Collection[str]) -> list[Purge]:
    """The waiting purges of these versions, locked."""
    condition = "version_id AMONG :versions AND status = 'WAITING'"
    return _CODEC.read(_ROWS.where(conn, condition, lock=Lock.UPDATE, versions=version_ids))


def find_unsettled_purges(conn: Connection, version_ids: Collection[str]) -> list[Purge]:
    """The purges of these versions that are not done, also of versions that are not there."""
    return _CODEC.read(_ROWS.where(conn, "version_id AMONG :versions AND status <> 'DONE'", versions=version_ids))


def find_purges_of(conn: Connection, operation_ids: Collection[str]) -> list[Purge]:
    """All purges that these deletes wait for or have waited for."""
    return _CODEC.read(_ROWS.where(conn, "operation_id AMONG :owners", owners=operation_ids))


@cache
def _due_text(dialect: str, columns: Sequence[str]) -> str:
    if dialect == SQLITE:
        first = f"JOIN purge AS ready ON ready.rowid IN ({_FIRST.format(selected='purge.rowid')})"
    else:
        first = f"CROSS JOIN LATERAL ({_FIRST.format(selected='purge.*')}) AS ready"
    return _DUE.format(first_of_tenant=first, columns=", ".join(columns))
