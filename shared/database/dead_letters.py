"""Dead letters as rows: messages that could not be read or applied, until an operator decides."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import orjson
from sqlalchemy import Connection

from shared.contracts.enums import LetterKind, LetterStatus
from shared.contracts.ids import LetterId, TenantId
from shared.database.codec import RowCodec, one
from shared.database.locking import Lock
from shared.database.pages import read_page
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.pipeline import DeadLetterRow
from shared.domain.authorization import Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message and why it lies here."""

    id: LetterId
    tenant_id: TenantId | None
    """None: it cannot be told whose it is."""
    kind: LetterKind
    status: LetterStatus = LetterStatus.OPEN
    owner_id: str
    """The operation or purge that it is about; "" when that cannot be told."""
    subject: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes
    message_id: str | None = None
    error: str
    created_at: datetime
    settled_at: datetime | None = None
    settled_by: str | None = None


_TABLE = table_of(DeadLetterRow)
_CODEC = RowCodec(
    _TABLE,
    DeadLetter,
    {"headers": one("headers", orjson.loads, lambda headers: orjson.dumps(headers).decode())},
)
_ROWS = TableRows(_TABLE, _CODEC.columns)
_UNSETTLED = "status IN ('OPEN', 'REPLAYING')"
_IN_OTHER_DOMAIN = """EXISTS (
    SELECT 1 FROM {owner} AS owner JOIN space ON space.id = owner.space_id
    WHERE owner.id = dead_letter.owner_id AND NOT space.security_domain AMONG :domains
)"""
_NOT_IN_OTHER_DOMAINS = " AND ".join(f"NOT {_IN_OTHER_DOMAIN.format(owner=owner)}" for owner in ("operation", "purge"))
_SETTLE = """
UPDATE dead_letter SET status = :then, error = :error, settled_at = :at, settled_by = :by
WHERE id = :id AND status = :was
"""


def insert_dead_letters(conn: Connection, letters: Sequence[DeadLetter]) -> None:
    """Keep letters."""
    _ROWS.insert(conn, _CODEC.write(letters))


def load_dead_letters(
    conn: Connection, letter_ids: Collection[LetterId], *, lock: Lock = Lock.NONE
) -> dict[LetterId, DeadLetter]:
    """The letters with these ids."""
    return {letter.id: letter for letter in _CODEC.read(_ROWS.by_key(conn, letter_ids, lock))}


def list_dead_letters(conn: Connection, *, limit: int) -> list[DeadLetter]:
    """Up to `limit` letters, the oldest first."""
    return _CODEC.read(_ROWS.where(conn, "id IS NOT NULL", order=("created_at", "id"), limit=limit))


def page_of_letters(
    conn: Connection, reach: Reach, status: LetterStatus, *, of_none: bool, page: int, page_size: int
) -> tuple[list[DeadLetter], int]:
    """One page of the letters in this status that are the caller's to settle, the oldest first, and their number.

    Those of their tenant, but for what is in other security domains. `of_none`: also those that cannot be told to be
    any tenant's. `reach` is that of `MANAGE_OPERATIONS`.
    """
    rows, total = read_page(
        conn,
        _TABLE,
        _CODEC.columns,
        f"{_managed(of_none)} AND dead_letter.status = :status",
        order=("created_at", "id"),
        page=page,
        page_size=page_size,
        status=status.value,
        tenant=reach.tenant_id,
        domains=sorted(reach.domains),
    )
    return _CODEC.read(rows), total


def managed_letter(
    conn: Connection, reach: Reach, letter_id: LetterId, *, of_none: bool, lock: Lock = Lock.NONE
) -> DeadLetter | None:
    """The letter, unless it is absent or not the caller's to settle; see `page_of_letters`."""
    rows = _ROWS.where(
        conn,
        f"{_managed(of_none)} AND dead_letter.id = :id",
        lock=lock,
        id=letter_id,
        tenant=reach.tenant_id,
        domains=sorted(reach.domains),
    )
    return next(iter(_CODEC.read(rows)), None)


def _managed(of_none: bool) -> str:
    mine = f"dead_letter.tenant_id = :tenant AND {_NOT_IN_OTHER_DOMAINS}"
    return f"({mine} OR dead_letter.tenant_id IS NULL)" if of_none else mine


def unsettled_letters(conn: Connection, owner_ids: Collection[str], *, lock: Lock = Lock.NONE) -> list[DeadLetter]:
    """The letters of these operations and purges that are not settled, by id."""
    if not owner_ids:
        return []
    condition = f"owner_id AMONG :owners AND {_UNSETTLED}"
    return _CODEC.read(_ROWS.where(conn, condition, order=("id",), lock=lock, owners=owner_ids))


def settle_letter(conn: Connection, letter: DeadLetter, *, was: LetterStatus) -> bool:
    """Store what has become of a letter if it still is what it was; whether it was."""
    done = run(
        conn,
        _SETTLE,
        id=letter.id,
        was=was.value,
        then=letter.status.value,
        error=letter.error,
        at=to_microseconds(letter.settled_at),
        by=letter.settled_by,
    )
    return done.rowcount == 1


def replaying_letters(conn: Connection, *, limit: int) -> list[DeadLetter]:
    """Up to `limit` letters that are to be applied again, the oldest first."""
    condition = f"{_UNSETTLED} AND status = 'REPLAYING'"
    return _CODEC.read(_ROWS.where(conn, condition, order=("created_at", "id"), limit=limit))


def count_unsettled(conn: Connection) -> dict[LetterKind, int]:
    """How many letters of each kind are not settled; every kind is there."""
    text = f"SELECT kind, count(*) FROM dead_letter WHERE {_UNSETTLED} GROUP BY kind"  # noqa: S608 - ours
    found = {LetterKind(kind): int(number) for kind, number in run(conn, text)}
    return {kind: found.get(kind, 0) for kind in LetterKind}


def stuck_owners(conn: Connection, owner_ids: Collection[str]) -> set[str]:
    """Those of the operations and purges of which an event is an unsettled letter: nothing of them is published again.

    A command that could not be read was answered, so it holds nothing up.
    """
    if not owner_ids:
        return set()
    text = f"SELECT DISTINCT owner_id FROM dead_letter WHERE owner_id AMONG :owners AND kind = 'event' AND {_UNSETTLED}"  # noqa: S608 - ours
    return {str(owner_id) for (owner_id,) in run(conn, text, owners=owner_ids).all()}
