"""Verifies what lies in the database by itself: every entry against its hash, every link against the one before it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from services.cli.audit.report import FaultKind, Findings
from shared.database.audit_chain import EMPTY, Head, all_heads, chain_hash
from shared.database.audit_verification import (
    StoredEntry,
    StoredLink,
    entries_between,
    last_entry_id,
    links_between,
    waiting_without_entry,
)
from shared.database.database import Database
from shared.telemetry.stamps import Clock

PAGE: Final = 1000
SEALED_WITHIN: Final = timedelta(seconds=5)
"""The sealer comes five times a second."""

Tell = Callable[[str, int], None]
"""Told what is looked at and how many of them were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAudit:
    """The audit in one database."""

    database: Database
    clock: Clock
    findings: Findings
    tell: Tell

    async def verify_entries(self) -> None:
        """Look at every entry that there is at this moment."""
        after, until = "", await self.database.read(last_entry_id)
        while page := await self.database.read(partial(entries_between, after=after, until=until, limit=PAGE)):
            for entry in page:
                self._entry(entry)
            after = page[-1].id
            self.findings.entries += len(page)
            self.tell("entries", self.findings.entries)
        for entry_id in await self.database.read(partial(waiting_without_entry, limit=PAGE)):
            self.findings.add(
                FaultKind.ENTRY_MISSING, "It waits to be sealed and is not there any more.", entry_id=entry_id
            )

    async def verify_chains(self) -> None:
        """Look at every link up to where the chains end at this moment."""
        heads = await self.database.read(all_heads)
        self.findings.chains = len(heads)
        links = 0
        for chain, end in heads.items():
            last = EMPTY
            while last.seq < end.seq:
                page = await self.database.read(
                    partial(links_between, chain=chain, after=last.seq, until=end.seq, limit=PAGE)
                )
                if not page:
                    break
                for link in page:
                    self._link(chain, last, link)
                    last = Head(seq=link.seq, hash=link.hash)
                links += len(page)
                self.tell("links", links)

    def _entry(self, entry: StoredEntry) -> None:
        add = partial(self.findings.add, chain=entry.chain, entry_id=entry.id)
        if not entry.is_unchanged:
            add(FaultKind.ENTRY_CHANGED, "Its content is not what its hash says.")
        if entry.is_sealed and entry.is_waiting:
            add(FaultKind.SEALED_AND_WAITING, "It is in its chain and waits to be sealed as well.")
        elif not entry.is_sealed and not entry.is_waiting:
            add(FaultKind.ENTRY_OUTSIDE, "It is in no chain and does not wait to be sealed.")
        elif entry.is_waiting and entry.at is not None and self.clock() - entry.at > SEALED_WITHIN:
            add(FaultKind.UNSEALED_TOO_LONG, f"It has waited to be sealed since {entry.at.isoformat()}.")

    def _link(self, chain: str, last: Head, link: StoredLink) -> None:
        add = partial(self.findings.add, chain=chain, seq=link.seq, entry_id=link.entry_id)
        if link.seq != last.seq + 1:
            which = f"{last.seq + 1}" if link.seq == last.seq + 2 else f"{last.seq + 1} to {link.seq - 1}"
            self.findings.add(FaultKind.LINK_MISSING, f"Missing: {which}.", chain=chain, seq=last.seq + 1)
        elif link.prev_hash != last.hash:
            add(FaultKind.LINK_BROKEN, "It does not name the hash of the link before it.")
        if link.content_hash is None:
            add(FaultKind.ENTRY_MISSING, "Its entry is not there any more.")
            return
        if link.entry_chain != chain:
            add(FaultKind.WRONG_CHAIN, f"Its entry belongs to the chain {link.entry_chain}.")
        if link.hash != chain_hash(link.prev_hash, link.seq, link.content_hash):
            add(FaultKind.LINK_CHANGED, "Its hash is not that of its entry, its place and the hash before it.")
