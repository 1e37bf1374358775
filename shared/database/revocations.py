"""Revocations: assertions that are refused although their signature is good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import RevocationKind
from shared.contracts.ids import SubjectId, TenantId
from shared.database.codec import RowCodec
from shared.database.locking import Lock
from shared.database.pages import read_page
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.access import RevocationRow
from shared.database.tables.columns import table_of, to_microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """One assertion (by the SHA-256, in hex, of its signed part), those of a session or of a user, up to a moment."""

    tenant_id: TenantId
    kind: RevocationKind
    value: str
    issued_until: datetime
    """Assertions issued up to this moment are refused."""
    created_by: SubjectId
    created_at: datetime
    expires_at: datetime
    """From then on every assertion that it could hit has expired."""


_KEY = ("tenant_id", "kind", "value")
_CHANGING = ("issued_until", "created_by", "created_at", "expires_at")
_FORGET = """
DELETE FROM revocation WHERE (tenant_id, kind, value) IN (
    SELECT tenant_id, kind, value FROM revocation WHERE expires_at <= :before ORDER BY expires_at LIMIT :most
)
"""
_TABLE = table_of(RevocationRow)
_CODEC = RowCodec(_TABLE, Revocation)
_ROWS = TableRows(_TABLE, _CODEC.columns, key=_KEY)


def load_revocation(
    conn: Connection, tenant_id: TenantId, kind: RevocationKind, value: str, *, lock: Lock = Lock.NONE
) -> Revocation | None:
    """The revocation, if there is one."""
    condition = "tenant_id = :tenant AND kind = :kind AND value = :value"
    rows = _ROWS.where(conn, condition, lock=lock, tenant=tenant_id, kind=kind.value, value=value)
    return next(iter(_CODEC.read(rows)), None)


def insert_missing_revocations(conn: Connection, revocations: Sequence[Revocation]) -> None:
    """Store those revocations that are not there yet."""
    _ROWS.insert_missing(conn, _CODEC.write(revocations))


def save_revocations(conn: Connection, revocations: Sequence[Revocation]) -> None:
    """Store what may change of revocations that are there: they reach further, never less far."""
    _ROWS.update(conn, _CHANGING, _CODEC.write(revocations, (*_CHANGING, *_KEY)))


def list_revocations(
    conn: Connection, tenant_id: TenantId, *, page: int, page_size: int
) -> tuple[list[Revocation], int]:
    """One page of the tenant's revocations, oldest first, and how many there are in all."""
    rows, total = read_page(
        conn,
        _TABLE,
        _CODEC.columns,
        "tenant_id = :tenant",
        order=("created_at", "kind", "value"),
        page=page,
        page_size=page_size,
        tenant=tenant_id,
    )
    return _CODEC.read(rows), total


def forget_revocations(conn: Connection, before: datetime, *, limit: int) -> int:
    """Drop up to `limit` revocations that expired before then; how many."""
    return run(conn, _FORGET, before=to_microseconds(before), most=limit).rowcount
