"""Reads the audit as it is stored, to find out whether it is as it was written, page by page in the order of keys.

Each page is one statement, so an entry that is sealed meanwhile is seen before or after it, never between.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from shared.database.audit import COLUMNS, content_hash
from shared.database.audit_chain import SYSTEM_CHAIN
from shared.database.settings import SQLITE
from shared.database.sql import run, selected
from shared.database.tables.access import AuditEntryRow
from shared.database.tables.columns import from_microseconds, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntry:
    """An entry as it lies in its table."""

    id: str
    chain: str
    """Where it belongs."""
    at: datetime | None
    """None when what lies there is no time any more."""
    is_unchanged: bool
    """Its content is what its hash says."""
    is_sealed: bool
    is_waiting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLink:
    """A link with what it holds of its entry; `content_hash` and `entry_chain` are None when that is not there."""

    seq: int
    entry_id: str
    prev_hash: str
    hash: str
    content_hash: str | None
    entry_chain: str | None


_HASH: Final = COLUMNS.index("content_hash")
_DETAILS: Final = COLUMNS.index("details")
_TENANT: Final = COLUMNS.index("tenant_id")
_AT: Final = COLUMNS.index("at")

_ENTRIES = """
SELECT {entry},
    EXISTS (SELECT 1 FROM audit_chain AS link WHERE link.entry_id = entry.id),
    EXISTS (SELECT 1 FROM audit_unsealed AS waiting WHERE waiting.entry_id = entry.id)
FROM audit_entry AS entry WHERE entry.id > :after AND entry.id <= :until ORDER BY entry.id LIMIT :most
"""
_LINKS = f"""
SELECT link.seq, link.entry_id, link.prev_hash, link.hash, entry.content_hash,
    CASE WHEN entry.id IS NULL THEN NULL ELSE coalesce(entry.tenant_id, '{SYSTEM_CHAIN}') END
FROM audit_chain AS link LEFT JOIN audit_entry AS entry ON entry.id = link.entry_id
WHERE link.chain = :chain AND link.seq > :after AND link.seq <= :until ORDER BY link.seq LIMIT :most
"""  # noqa: S608 - names of ours only
_DANGLING = """
SELECT waiting.entry_id FROM audit_unsealed AS waiting
WHERE NOT EXISTS (SELECT 1 FROM audit_entry AS entry WHERE entry.id = waiting.entry_id) ORDER BY waiting.entry_id
LIMIT :most
"""
_HASHES = """
SELECT link.chain, link.seq, link.hash FROM {asked} CROSS JOIN audit_chain AS link
WHERE link.chain = asked.chain AND link.seq = asked.seq
"""
_ASKED_SQLITE = """
(SELECT json_extract(value, '$[0]') AS chain, json_extract(value, '$[1]') AS seq FROM json_each(:places)) AS asked
"""
_ASKED_POSTGRES = """
(SELECT place ->> 0 AS chain, (place ->> 1)::bigint AS seq FROM json_array_elements(:places::json) AS place) AS asked
"""


def last_entry_id(conn: Connection) -> str:
    """The greatest id of an entry; "" when there is none."""
    return run(conn, "SELECT max(id) FROM audit_entry").scalar_one() or ""


def entries_between(conn: Connection, after: str, until: str, *, limit: int) -> list[StoredEntry]:
    """A page of entries behind an id, in the order of their ids."""
    entry = selected(conn.dialect.name, table_of(AuditEntryRow), COLUMNS, "entry")
    rows = run(conn, _ENTRIES.format(entry=entry), after=after, until=until, most=limit).all()
    return [_stored(row) for row in rows]


def links_between(conn: Connection, chain: str, after: int, until: int, *, limit: int) -> list[StoredLink]:
    """A page of a chain's links behind a place."""
    rows = run(conn, _LINKS, chain=chain, after=after, until=until, most=limit).all()
    return [
        StoredLink(seq=seq, entry_id=entry, prev_hash=prev, hash=digest, content_hash=content, entry_chain=owner)
        for seq, entry, prev, digest, content, owner in rows
    ]


def waiting_without_entry(conn: Connection, *, limit: int) -> list[str]:
    """Ids that wait to be sealed of which there is no entry."""
    return [str(entry_id) for (entry_id,) in run(conn, _DANGLING, most=limit).all()]


def hashes_at(conn: Connection, places: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
    """The hashes of the links at these places; those that are not there are left out."""
    asked = _ASKED_SQLITE if conn.dialect.name == SQLITE else _ASKED_POSTGRES
    rows = run(conn, _HASHES.format(asked=asked), places=orjson.dumps(list(places)).decode()).all()
    return {(chain, seq): digest for chain, seq, digest in rows}


def _stored(row: Sequence[Any]) -> StoredEntry:
    cells, (is_sealed, is_waiting) = list(row[: len(COLUMNS)]), row[len(COLUMNS) :]
    told = dict(zip(COLUMNS[:_HASH], cells, strict=False))
    try:
        told["details"] = orjson.loads(cells[_DETAILS])
        is_unchanged = content_hash(told) == cells[_HASH]
        at = from_microseconds(cells[_AT])
    except (ValueError, TypeError, OverflowError):
        is_unchanged, at = False, None
    return StoredEntry(
        id=cells[0],
        chain=cells[_TENANT] or SYSTEM_CHAIN,
        at=at,
        is_unchanged=is_unchanged,
        is_sealed=bool(is_sealed),
        is_waiting=bool(is_waiting),
    )
