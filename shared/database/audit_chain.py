"""The audit chain: entries that wait to be sealed, where each tenant's chain ends, and the links that are added."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.database.codec import RowCodec
from shared.database.rows import TableRows
from shared.database.settings import SQLITE
from shared.database.sql import run
from shared.database.tables.access import AuditChainRow, AuditUnsealedRow
from shared.database.tables.columns import table_of

SYSTEM_CHAIN: Final = "system"
"""Where entries without a tenant stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsealed:
    """An entry that is not in its chain yet."""

    entry_id: str
    chain: str
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The last link of a chain; both fields of the first link's `prev` are those of `EMPTY`."""

    seq: int
    hash: str


EMPTY: Final = Head(seq=0, hash="")
"""The head of a chain that nothing was added to yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An entry's place in its chain, as `AuditChainRow` describes it."""

    chain: str
    seq: int
    entry_id: str
    prev_hash: str
    hash: str
    sealed_at: datetime


_LINK_CODEC = RowCodec(table_of(AuditChainRow), Link)
_LINKS = TableRows(table_of(AuditChainRow), _LINK_CODEC.columns, key=("chain", "seq"))
_WAITING = TableRows(table_of(AuditUnsealedRow), ("entry_id",), key=("entry_id",))

# Ids of entries begin with their time, so the first ones by id are the oldest but for what writers did at once.
_UNSEALED = f"""
SELECT entry.id, coalesce(entry.tenant_id, '{SYSTEM_CHAIN}'), entry.content_hash
FROM (SELECT entry_id FROM audit_unsealed ORDER BY entry_id LIMIT :most) AS oldest
CROSS JOIN audit_entry AS entry WHERE entry.id = oldest.entry_id ORDER BY entry.at, entry.id
"""  # noqa: S608 - names of ours only

_HEADS = """
SELECT last.chain, last.seq, last.hash FROM {asked} CROSS JOIN audit_chain AS last
WHERE last.chain = asked.chain AND last.seq = (SELECT max(seq) FROM audit_chain WHERE chain = asked.chain)
"""
# From each chain's name to the next one in the index: as many steps as there are chains, however long they are.
_ALL_HEADS = """
WITH RECURSIVE named(chain) AS (
    SELECT min(chain) FROM audit_chain
    UNION ALL
    SELECT (SELECT min(link.chain) FROM audit_chain AS link WHERE link.chain > named.chain)
    FROM named WHERE named.chain IS NOT NULL
)
SELECT last.chain, last.seq, last.hash FROM named CROSS JOIN audit_chain AS last
WHERE last.chain = named.chain AND last.seq = (SELECT max(seq) FROM audit_chain WHERE chain = named.chain)
"""
_ASKED_SQLITE = "(SELECT value AS chain FROM json_each(:chains)) AS asked"
_ASKED_POSTGRES = "unnest(:chains::text[]) AS asked(chain)"


def chain_hash(prev_hash: str, seq: int, content_hash: str) -> str:
    """What a link's hash is: it covers the entry, its place, and by the link before it everything up to here."""
    return hashlib.sha256(f"{prev_hash}:{seq}:{content_hash}".encode()).hexdigest()


def has_unsealed(conn: Connection) -> bool:
    """Whether any entry waits to be sealed."""
    return run(conn, "SELECT 1 FROM audit_unsealed LIMIT 1").first() is not None


def count_unsealed(conn: Connection) -> int:
    """How many entries wait to be sealed."""
    return int(run(conn, "SELECT count(*) FROM audit_unsealed").scalar_one())


def find_unsealed(conn: Connection, *, limit: int) -> list[Unsealed]:
    """The oldest entries that wait, in the order of their time and id."""
    rows = run(conn, _UNSEALED, most=limit).all()
    return [Unsealed(entry_id=entry, chain=chain, content_hash=digest) for entry, chain, digest in rows]


def chain_heads(conn: Connection, chains: Collection[str]) -> Mapping[str, Head]:
    """The last link of each chain, found in its index whatever the chain's length; an empty chain is left out."""
    asked = _ASKED_SQLITE if conn.dialect.name == SQLITE else _ASKED_POSTGRES
    rows = run(conn, _HEADS.format(asked=asked), chains=chains).all()
    return {chain: Head(seq=seq, hash=digest) for chain, seq, digest in rows}


def all_heads(conn: Connection) -> Mapping[str, Head]:
    """The last link of every chain."""
    return {chain: Head(seq=seq, hash=digest) for chain, seq, digest in run(conn, _ALL_HEADS).all()}


def add_links(conn: Connection, links: Sequence[Link]) -> None:
    """Add links at the ends of their chains; their entries wait no longer.

    UniqueViolation("audit_chain_pkey") when somebody else has added a link at one of these places.
    """
    cells = _LINK_CODEC.write(links)
    _LINKS.insert(conn, cells)
    _WAITING.delete(conn, [[link.entry_id for link in links]])
