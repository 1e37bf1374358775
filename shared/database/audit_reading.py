"""Reads entries of the audit in the order of their chain."""

from typing import Any, Final

import orjson
from sqlalchemy import Connection

from shared.contracts.audit_messages import EntrySealed
from shared.database.audit import COLUMNS
from shared.database.audit_chain import chain_heads
from shared.database.sql import run, selected
from shared.database.tables.access import AuditEntryRow
from shared.database.tables.columns import from_microseconds, table_of

_FIELDS: Final = ("entry_id", *COLUMNS[1:], "chain", "seq", "prev_hash", "hash")
_AT: Final = _FIELDS.index("at")
_DETAILS: Final = _FIELDS.index("details")

_SEALED = """
SELECT {entry}, link.chain, link.seq, link.prev_hash, link.hash
FROM audit_chain AS link CROSS JOIN audit_entry AS entry
WHERE link.chain = :chain AND link.seq > :after AND entry.id = link.entry_id {more} ORDER BY link.seq LIMIT :most
"""
_OF_TENANT: Final = "AND entry.tenant_id = :chain"


def sealed_entries(conn: Connection, chain: str, *, after: int, limit: int) -> list[EntrySealed]:
    """Up to `limit` entries of a chain behind the place `after`."""
    return _read(conn, chain, "", after=after, limit=limit)


def page_of_tenant(
    conn: Connection, tenant: str, *, after: int, limit: int, latest: bool
) -> tuple[list[EntrySealed], int]:
    """Up to `limit` of a tenant's entries behind a place, or the `latest`, and where the chain ends.

    Without what is nobody's: a tenant may be called as the chain of such entries.
    """
    heads = chain_heads(conn, {tenant})
    last = heads[tenant].seq if heads else 0
    behind = max(0, last - limit) if latest else after
    return _read(conn, tenant, _OF_TENANT, after=behind, limit=limit), last


def _read(conn: Connection, chain: str, more: str, *, after: int, limit: int) -> list[EntrySealed]:
    entry = selected(conn.dialect.name, table_of(AuditEntryRow), COLUMNS, "entry")
    text = _SEALED.format(entry=entry, more=more)
    return [_sealed(row) for row in run(conn, text, chain=chain, after=after, most=limit).all()]


def _sealed(row: Any) -> EntrySealed:
    cells = list(row)
    cells[_AT] = from_microseconds(cells[_AT])
    cells[_DETAILS] = orjson.loads(cells[_DETAILS])
    return EntrySealed(**dict(zip(_FIELDS, cells, strict=True)))
