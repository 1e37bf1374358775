"""Dead letters as rows: messages that could not be read or applied, until an operator decides."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.database.codec import RowCodec
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of
from shared.database.tables.pipeline import DeadLetterRow


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message and why it lies here."""

    id: str
    kind: str
    owner_id: str
    """The operation or purge that it is about."""
    subject: str
    body: bytes
    error: str
    created_at: datetime


_CODEC = RowCodec(table_of(DeadLetterRow), DeadLetter)
_ROWS = TableRows(table_of(DeadLetterRow), _CODEC.columns)


def insert_dead_letters(conn: Connection, letters: Sequence[DeadLetter]) -> None:
    """Keep letters."""
    _ROWS.insert(conn, _CODEC.write(letters))


def list_dead_letters(conn: Connection, *, limit: int) -> list[DeadLetter]:
    """Up to `limit` letters, the oldest first."""
    return _CODEC.read(_ROWS.where(conn, "id IS NOT NULL", order=("created_at", "id"), limit=limit))


def stuck_owners(conn: Connection, owner_ids: Collection[str]) -> set[str]:
    """Those of the operations and purges that a letter is about: nothing of them is published again."""
    if not owner_ids:
        return set()
    found = run(conn, "SELECT DISTINCT owner_id FROM dead_letter WHERE owner_id AMONG :owners", owners=owner_ids)
    return {str(owner_id) for (owner_id,) in found.all()}
