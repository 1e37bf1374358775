"""The directory that authentication asks, answered from the database by one quick statement a request."""

from dataclasses import dataclass

from shared.database.quick_reads import QuickReads
from shared.database.standing import read_standing
from shared.domain.standing import Shown, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDirectory:
    """Reads every time: whoever is shut out is shut out for the next request of every replica."""

    reads: QuickReads

    async def standing(self, shown: Shown) -> Standing:
        """What is known right now; StoreUnavailable when the database is away."""
        return await self.reads.read(lambda conn: read_standing(conn, shown))
