"""What requests of this process wait for, as the application is given it."""

import asyncio
from dataclasses import dataclass
from typing import Self

from services.api.events.heads import ChainWatch
from services.api.operations.watcher import OperationWatch
from shared.database.quick_reads import QuickReads


@dataclass(frozen=True, slots=True, kw_only=True)
class Watches:
    """The ends of operations and of audit chains. `run` it as a task; after `stop` nobody waits."""

    operations: OperationWatch
    chains: ChainWatch

    @classmethod
    def of(cls, reads: QuickReads, *, most_waiters: int, most_streams: int) -> Self:
        """The watches over what is read so, for so many requests at once."""
        return cls(
            operations=OperationWatch(reads, most=most_waiters),
            chains=ChainWatch(reads, most=most_streams),
        )

    async def run(self) -> None:
        """Watch until stopped."""
        await asyncio.gather(self.operations.run(), self.chains.run())

    def stop(self) -> None:
        """Answer everybody who waits with what there is."""
        self.operations.stop()
        self.chains.stop()
