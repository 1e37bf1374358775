"""Signs where the audit chains end, again and again: into the file first, then for the stream."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from shared.auth.checkpoint_file import CheckpointFile
from shared.auth.checkpoints import CheckpointSigner
from shared.contracts.audit_messages import CheckpointSigned
from shared.database.audit_chain import Head, all_heads
from shared.database.audit_publications import load_publications, note_checkpoints
from shared.database.database import Database
from shared.telemetry.stamps import Clock

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """What checkpoints need of the process; `main` makes it once."""

    every: timedelta
    signer: CheckpointSigner
    file: CheckpointFile | None


@dataclass(slots=True, kw_only=True)
class Checkpoints:
    """The checkpoints of one term. `guard` joins each transaction and holds the lease."""

    database: Database
    signing: Signing
    guard: Callable[[Connection], None]
    clock: Clock
    on_signed: Callable[[Iterable[CheckpointSigned]], None]
    """Takes what is to be published."""
    _ended_at: datetime | None = field(default=None)

    @property
    def age(self) -> timedelta | None:
        """How long ago all chains were last signed as they were; None before the first time."""
        return None if self._ended_at is None else self.clock() - self._ended_at

    async def round(self) -> None:
        """Sign every chain that has grown since its last checkpoint."""
        now = self.clock()
        grown = await self.database.read(_grown)
        if grown:
            checkpoints = [self.signing.signer.sign(chain, head.seq, head.hash, now) for chain, head in grown.items()]
            if self.signing.file is not None:
                await asyncio.to_thread(self.signing.file.append, checkpoints)
            await self._note({chain: head.seq for chain, head in grown.items()}, now)
            self.on_signed(checkpoints)
        self._ended_at = now

    async def _note(self, seqs: Mapping[str, int], now: datetime) -> None:
        def note(conn: Connection) -> None:
            self.guard(conn)
            note_checkpoints(conn, seqs, now)

        await self.database.write(note)


def _grown(conn: Connection) -> Mapping[str, Head]:
    marks = load_publications(conn)
    return {
        chain: head
        for chain, head in all_heads(conn).items()
        if chain not in marks or head.seq > marks[chain].checkpoint_seq
    }
