"""Publishes the audit chains into their stream: every entry in order, and checkpoints behind what they are of.

Nothing is kept in memory that could be lost: where a chain ends and how far it is published are read from the tables,
and how far the stream really has it from the stream itself whenever the broker was away.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy import Connection as DatabaseConnection

from shared.contracts.audit_messages import CheckpointSigned, EntrySealed
from shared.contracts.catalogue import Stream, audit_subject
from shared.database.audit_chain import all_heads
from shared.database.audit_publications import load_publications, note_published
from shared.database.audit_reading import sealed_entries
from shared.database.database import Database
from shared.messaging.audit_codec import audit_message, place_of
from shared.messaging.connection import Connection
from shared.messaging.publisher import Acked, Answer, Publisher
from shared.messaging.stream_state import StreamStates

log = structlog.get_logger()

MOST_AT_ONCE: Final = 256
"""Entries published before the next note of how far they go."""
LOOK_EVERY: Final = timedelta(seconds=30)
"""How long a chain may be behind of which nobody has told, or a stream be another one that nobody publishes to."""


@dataclass(slots=True, kw_only=True)
class Publishing:
    """The publisher of one term. `guard` joins each transaction and holds the lease."""

    database: Database
    connection: Connection
    publisher: Publisher
    guard: Callable[[DatabaseConnection], None]
    _ends: dict[str, int] = field(default_factory=dict)
    _marks: dict[str, int] = field(default_factory=dict)
    _signed: dict[str, CheckpointSigned] = field(default_factory=dict)
    """The newest checkpoint of each chain that is not published yet."""
    _stream: str = ""
    """Which stream the marks are of."""
    _generation: int = -1
    """Of the connection, when the stream was looked at last."""
    _looked_at: float = 0.0

    @property
    def unpublished(self) -> int:
        """How many entries of the chains are behind the marks."""
        return sum(max(0, end - self._marks.get(chain, 0)) for chain, end in self._ends.items())

    def grown(self, ends: Mapping[str, int]) -> None:
        """Chains end there now."""
        self._ends.update(ends)

    def signed(self, checkpoints: Iterable[CheckpointSigned]) -> None:
        """Publish these as soon as the stream holds what they are of; an older one that waits is passed over."""
        self._signed.update((checkpoint.chain, checkpoint) for checkpoint in checkpoints)

    async def round(self) -> None:
        """Publish everything that is not; what the broker does not take is tried again in the next round."""
        if self._is_look_due():
            await self.look()
        while await self._publish_in_turns():
            pass
        await self._publish_checkpoints()

    async def look(self) -> None:
        """Find out where every chain ends, which stream there is, and how far it has them.

        A broker that comes back may have lost what it had last, so then each chain's last message is looked at.
        """
        generation = self.connection.generation
        states = StreamStates(self.connection)
        stream = (await states.look(Stream.AUDIT.value)).created
        kept, heads = await self.database.read(lambda conn: (load_publications(conn), all_heads(conn)))
        marks = {chain: row.seq for chain, row in kept.items() if row.stream_created == stream}
        if generation != self._generation:
            for chain, mark in marks.items():
                last = await states.last_on(Stream.AUDIT.value, audit_subject(chain))
                marks[chain] = min(mark, 0 if last is None else place_of(last.message_id))
                if marks[chain] < mark:
                    log.warning("projector.audit.lost", published=mark, held=marks[chain])
        self._marks, self._stream, self._generation = marks, stream, generation
        self._ends = {chain: head.seq for chain, head in heads.items()}
        self._looked_at = _now()

    def _is_look_due(self) -> bool:
        is_another_connection = self._generation != self.connection.generation
        return is_another_connection or _now() - self._looked_at > LOOK_EVERY.total_seconds()

    async def _publish_in_turns(self) -> bool:
        """Publish a share of each chain that is behind; False when none of them has got any further."""
        behind = [chain for chain, end in self._ends.items() if end > self._marks.get(chain, 0)]
        has_moved = False
        for start in range(0, len(behind), MOST_AT_ONCE):
            has_moved |= await self._publish_some(behind[start : start + MOST_AT_ONCE])
        return has_moved

    async def _publish_some(self, chains: Sequence[str]) -> bool:
        entries = await self.database.read(lambda conn: self._next(conn, chains))
        answers = await self.publisher.publish_many([audit_message(entry) for entry in entries])
        reached = _reached(entries, answers)
        if reached:
            await self._note(reached)
        return bool(reached)

    def _next(self, conn: DatabaseConnection, chains: Sequence[str]) -> list[EntrySealed]:
        """What comes next of each chain: a long one does not hold up the others."""
        share = MOST_AT_ONCE // len(chains)
        marks = self._marks
        return [
            entry for chain in chains for entry in sealed_entries(conn, chain, after=marks.get(chain, 0), limit=share)
        ]

    async def _note(self, reached: Mapping[str, int]) -> None:
        """Should the stream have become another one meanwhile, the next look finds it without these marks."""

        def note(conn: DatabaseConnection) -> None:
            self.guard(conn)
            note_published(conn, self._stream, reached)

        await self.database.write(note)
        self._marks.update(reached)

    async def _publish_checkpoints(self) -> None:
        """Those of what the stream holds; a checkpoint never stands before an entry that it is of."""
        ready = [one for one in self._signed.values() if one.seq <= self._marks.get(one.chain, 0)]
        answers = await self.publisher.publish_many([audit_message(checkpoint) for checkpoint in ready])
        for checkpoint, answer in zip(ready, answers, strict=True):
            if isinstance(answer, Acked) and self._signed.get(checkpoint.chain) == checkpoint:
                del self._signed[checkpoint.chain]


def _reached(entries: Sequence[EntrySealed], answers: Sequence[Answer]) -> Mapping[str, int]:
    """Up to where each chain is in the stream without a hole."""
    reached: dict[str, int] = {}
    stopped: set[str] = set()
    for entry, answer in zip(entries, answers, strict=True):
        if not isinstance(answer, Acked):
            stopped.add(entry.chain)
        elif entry.chain not in stopped:
            reached[entry.chain] = entry.seq
    return reached


def _now() -> float:
    return asyncio.get_running_loop().time()
