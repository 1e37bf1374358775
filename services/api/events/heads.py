"""The watch over the ends of audit chains, which streams wait to grow."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

from services.api.watching import Pace, Watch
from shared.contracts.ids import TenantId
from shared.database.audit_chain import chain_heads
from shared.database.quick_reads import QuickReads

EVERY: Final = timedelta(milliseconds=200)
"""As often as chains grow."""


class ChainWatch(Watch[int]):
    """Knows the last place of each chain that a stream follows."""

    def __init__(self, reads: QuickReads, *, most: int) -> None:
        async def look(chains: Collection[str]) -> Mapping[str, int]:
            heads = await reads.read(lambda conn: chain_heads(conn, chains))
            return {chain: head.seq for chain, head in heads.items()}

        super().__init__("chains", look, most=most, pace=Pace(shortest=EVERY, longest=EVERY))

    async def beyond(self, tenant: TenantId, seq: int, within: timedelta) -> int:
        """The chain's last place once that lies behind `seq`; `seq` itself when time is up or in a stop."""
        head = await self.wait(tenant, lambda last: last > seq, within)
        return seq if head is None else head
