"""Purges as rows."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection

from shared.database.codec import RowCodec
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.pipeline import PurgeRow
from shared.domain.purge import Purge

_TABLE = table_of(PurgeRow)
_CODEC = RowCodec(_TABLE, Purge)
_ROWS = TableRows(_TABLE, _CODEC.columns)
_CHANGING = ("reason", "status", "operation_id", "attempt", "issue", "due_at", "updated_at")

_DUE = """status = 'WAITING' AND due_at <= :now
    AND NOT EXISTS (
        SELECT 1 FROM document_version
        JOIN outbox ON outbox.owner_id = document_version.operation_id
        WHERE document_version.id = purge.version_id
            AND outbox.published_at IS NOT NULL AND outbox.gone_after IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM purge AS other WHERE other.version_id = purge.version_id AND other.status = 'ISSUED'
    )"""
"""A purge starts only when every published command of its version is closed or no longer in the stream."""


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
    """Up to `limit` waiting purges that are due and whose version no command is out for; oldest first."""
    rows = _ROWS.where(conn, _DUE, order=("due_at", "id"), limit=limit, now=to_microseconds(now))
    return _CODEC.read(rows)


def lock_waiting_purges(conn: Connection, version_ids: Collection[str]) -> list[Purge]:
    """The waiting purges of these versions, locked."""
    condition = "version_id AMONG :versions AND status = 'WAITING'"
    return _CODEC.read(_ROWS.where(conn, condition, lock=Lock.UPDATE, versions=version_ids))


def find_purges_of(conn: Connection, operation_ids: Collection[str]) -> list[Purge]:
    """All purges that these deletes wait for or have waited for."""
    return _CODEC.read(_ROWS.where(conn, "operation_id AMONG :owners", owners=operation_ids))
