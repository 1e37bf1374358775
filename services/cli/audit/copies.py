"""Compares the chains with what was published of them: the stream holds a copy of every entry and checkpoint."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Final

from sqlalchemy import Connection

from services.cli.audit.chains import Tell
from services.cli.audit.checkpoints import Checkpointed
from services.cli.audit.report import FaultKind, Findings
from shared.contracts.audit_messages import CheckpointSigned, EntrySealed
from shared.contracts.catalogue import audit_subject
from shared.database.audit_publications import load_publications
from shared.database.audit_reading import sealed_entries
from shared.database.database import Database
from shared.messaging.audit_codec import read_audit_message
from shared.messaging.reader import EventReader
from shared.messaging.stream_state import StoredMessage

PATIENCE: Final = 3
"""So many empty reads in a row before the end of the stream mean that its last messages were removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The audit stream beside the database. Messages that are too old for the stream are missed by nobody."""

    database: Database
    reader: EventReader
    checkpointed: Checkpointed
    findings: Findings
    tell: Tell
    _ends: dict[str, int] = field(default_factory=dict)
    """Up to where each chain was met."""

    async def verify(self) -> None:
        """Read the whole stream as it is at this moment; StoreUnavailable when the broker goes away meanwhile."""
        kept = await self.database.read(load_publications)
        look = await self.reader.look()
        self.findings.copies = 0
        is_whole = look.first_sequence <= 1
        reached, silences = look.first_sequence - 1, 0
        async with aclosing(self.reader.read(reached)) as batches:
            while reached < look.last_sequence and silences < PATIENCE:
                batch = await anext(batches)
                silences = 0 if batch else silences + 1
                if batch:
                    await self._compare(batch, is_whole=is_whole)
                    reached = batch[-1].sequence
        for chain, row in kept.items():
            end = self._ends.get(chain)
            if row.stream_created == look.created and row.seq > (end or 0) and (is_whole or end is not None):
                self._missing(chain, (end or 0) + 1, row.seq)

    async def _compare(self, batch: Sequence[StoredMessage], *, is_whole: bool) -> None:
        copies, checkpoints = [], []
        for message in batch:
            told = read_audit_message(message.body)
            if told is None or message.subject != audit_subject(told.chain):
                where = f"The message {message.sequence} of the stream is nothing that we publish there."
                self.findings.add(FaultKind.COPY_UNREADABLE, where)
            elif isinstance(told, CheckpointSigned):
                checkpoints.append(told)
            else:
                copies.append(told)
        for copy in copies:
            self._in_order(copy, is_whole=is_whole)
        for chain, of_chain in groupby(sorted(copies, key=_place), key=lambda copy: copy.chain):
            await self._compare_chain(chain, list(of_chain))
        await self.checkpointed.compare(checkpoints)
        self.findings.copies = (self.findings.copies or 0) + len(batch)
        self.tell("messages", self.findings.copies)

    def _in_order(self, copy: EntrySealed, *, is_whole: bool) -> None:
        """The stream may hold an entry twice, but never leaves one out."""
        end = self._ends.get(copy.chain, 0 if is_whole else copy.seq - 1)
        if copy.seq > end + 1:
            self._missing(copy.chain, end + 1, copy.seq - 1)
        self._ends[copy.chain] = max(end, copy.seq)

    async def _compare_chain(self, chain: str, copies: Sequence[EntrySealed]) -> None:
        stored: dict[int, EntrySealed] = {}
        for first, count in _runs({copy.seq for copy in copies}):
            entries = await self.database.read(partial(_readable, chain=chain, after=first - 1, limit=count))
            stored.update((entry.seq, entry) for entry in entries)
        for copy in copies:
            entry = stored.get(copy.seq)
            add = partial(self.findings.add, chain=chain, seq=copy.seq, entry_id=copy.entry_id)
            if entry is None:
                add(FaultKind.CHAIN_CUT, "The stream holds this entry, and the chain does not.")
            elif entry != copy:
                add(FaultKind.COPY_DIFFERS, "The stream's copy of this entry says something else.")

    def _missing(self, chain: str, first: int, last: int) -> None:
        which = f"{first}" if first == last else f"{first} to {last}"
        self.findings.add(FaultKind.COPY_MISSING, f"Missing in the stream: {which}.", chain=chain, seq=first)


def _place(copy: EntrySealed) -> tuple[str, int]:
    return copy.chain, copy.seq


def _runs(places: Collection[int]) -> Iterator[tuple[int, int]]:
    """Where unbroken runs of places begin, and how long they are."""
    numbered = enumerate(sorted(places))
    for _, run in groupby(numbered, key=lambda item: item[1] - item[0]):
        places_of_run = [place for _, place in run]
        yield places_of_run[0], len(places_of_run)


def _readable(conn: Connection, chain: str, after: int, limit: int) -> list[EntrySealed]:
    """The entries at these places, without those that are no entries any more."""
    try:
        return sealed_entries(conn, chain, after=after, limit=limit)
    except ValueError:
        if limit == 1:
            return []
        half = limit // 2
        return _readable(conn, chain, after, half) + _readable(conn, chain, after + half, limit - half)
