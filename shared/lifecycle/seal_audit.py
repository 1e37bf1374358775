"""Moves audit entries into their tenants' chains, in the caller's transaction. Only the lease's holder may seal."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.database.audit_chain import EMPTY, Head, Link, Unsealed, add_links, chain_hash, chain_heads, find_unsealed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What was sealed: how many entries, and where the chains that grew end now."""

    entries: int
    ends: Mapping[str, int]


def seal_audit(conn: Connection, now: datetime, *, limit: int) -> Sealed:
    """Add up to `limit` waiting entries to their chains, in the order of their time and id."""
    waiting = find_unsealed(conn, limit=limit)
    if not waiting:
        return Sealed(entries=0, ends={})
    chains = {entry.chain for entry in waiting}
    heads = dict(chain_heads(conn, chains))
    links = []
    for entry in waiting:
        link = _link_after(heads.get(entry.chain, EMPTY), entry, now)
        heads[entry.chain] = Head(seq=link.seq, hash=link.hash)
        links.append(link)
    add_links(conn, links)
    return Sealed(entries=len(links), ends={chain: heads[chain].seq for chain in chains})


def _link_after(head: Head, entry: Unsealed, now: datetime) -> Link:
    seq = head.seq + 1
    return Link(
        chain=entry.chain,
        seq=seq,
        entry_id=entry.entry_id,
        prev_hash=head.hash,
        hash=chain_hash(head.hash, seq, entry.content_hash),
        sealed_at=now,
    )
