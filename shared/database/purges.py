"""Purges as rows."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.ids import OperationId
from shared.database.codec import RowCodec
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.pipeline import PurgeRow
from shared.domain.purge import Purge

_TABLE = table_of(PurgeRow)
_CODEC = RowCodec(_TABLE, Purge)
_ROWS = TableRows(_TABLE, _CODEC.columns)
_CHANGING = ("status", "attempt", "issue", "due_at", "updated_at")

_DUE = """status = 'WAITING' AND due_at <= :now
    AND NOT EXISTS (
        SELECT 1 FROM document_version
        JOIN outbox ON outbox.owner_id = document_version.operation_id
        WHERE document_version.id = purge.version_id AND outbox.published_at IS NOT NULL
    )"""
"""A purge starts only when every published command of its version is closed."""


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
    """Up to `limit` waiting purges that are due and whose version no published command is out for; oldest first."""
    rows = _ROWS.where(conn, _DUE, order=("due_at", "id"), limit=limit, now=to_microseconds(now))
    return _CODEC.read(rows)


def count_unfinished_purges(conn: Connection, operation_id: OperationId) -> int:
    """How many purges a delete still waits for."""
    return len(_ROWS.where(conn, "operation_id = :owner AND status <> 'DONE'", owner=operation_id))
