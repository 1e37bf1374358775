"""What was answered to a request with an idempotency key, kept so that the same request gets the same answer."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.ids import SubjectId, TenantId
from shared.database.codec import RowCodec, one
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.access import IdempotencyRow
from shared.database.tables.columns import table_of, to_microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """Whose key it is, and for what."""

    tenant_id: TenantId
    subject: SubjectId
    route: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """The answer to one request: its status and its data, as JSON."""

    tenant_id: TenantId
    subject: SubjectId
    route: str
    key: str
    request_digest: str
    """SHA-256, in hex, of the canonical request: another request with the key is a conflict."""
    status_code: int
    data: str
    created_at: datetime
    expires_at: datetime


RESERVED = 0
"""The status of an answer whose transaction is still going on; no other transaction ever sees it."""

_KEY = ("tenant_id", "subject", "route", "key")
_FORGET = """
DELETE FROM idempotency WHERE (tenant_id, subject, route, "key") IN (
    SELECT tenant_id, subject, route, "key" FROM idempotency WHERE expires_at <= :before ORDER BY expires_at LIMIT :most
)
"""
_ANSWER = ("status_code", "data")
_CODEC = RowCodec(table_of(IdempotencyRow), StoredAnswer, {"data": one("data", str, str)})
_ROWS = TableRows(table_of(IdempotencyRow), _CODEC.columns, key=_KEY)
_SAME_KEY = 'tenant_id = :tenant AND subject = :subject AND route = :route AND "key" = :key'


def find_answer(conn: Connection, key: RequestKey, now: datetime) -> StoredAnswer | None:
    """The answer kept under the key; None when there is none or it has expired."""
    rows = _ROWS.where(
        conn,
        f"{_SAME_KEY} AND expires_at > :now",
        tenant=key.tenant_id,
        subject=key.subject,
        route=key.route,
        key=key.key,
        now=to_microseconds(now),
    )
    return next(iter(_CODEC.read(rows)), None)


def reserve_answer(conn: Connection, answer: StoredAnswer) -> StoredAnswer | None:
    """Take the key for this transaction; None when it is ours now, else what was answered under it before.

    `answer` is unfinished: its status is RESERVED until `complete_answer`. Another transaction that holds the key is
    waited for, so of many requests with one key that come at once, one does the work and the others repeat its answer.
    """
    tenant, subject, route, key = answer.tenant_id, answer.subject, answer.route, answer.key
    now = to_microseconds(answer.created_at)
    expired = f"DELETE FROM idempotency WHERE {_SAME_KEY} AND expires_at <= :now"  # noqa: S608 - a constant
    run(conn, expired, tenant=tenant, subject=subject, route=route, key=key, now=now)
    while True:  # what was there when we inserted may be gone when we look
        _ROWS.insert_missing(conn, _CODEC.write([answer]))
        rows = _ROWS.where(conn, _SAME_KEY, tenant=tenant, subject=subject, route=route, key=key)
        found = _CODEC.read(rows)
        if found:
            return None if found[0].status_code == RESERVED else found[0]


def complete_answer(conn: Connection, answer: StoredAnswer) -> None:
    """Keep what is answered under a key that this transaction has reserved."""
    _ROWS.update(conn, _ANSWER, _CODEC.write([answer], (*_ANSWER, *_KEY)))


def forget_answers(conn: Connection, before: datetime, *, limit: int) -> int:
    """Drop up to `limit` answers that expired before then; how many."""
    return run(conn, _FORGET, before=to_microseconds(before), most=limit).rowcount
