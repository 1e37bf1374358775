"""The watch over operations whose end requests wait for."""

from collections.abc import Collection, Mapping
from datetime import timedelta

from services.api.watching import Watch
from shared.contracts.ids import OperationId
from shared.database.operations import find_ended
from shared.database.quick_reads import QuickReads


class OperationWatch(Watch[bool]):
    """Knows of operations that they have ended."""

    def __init__(self, reads: QuickReads, *, most: int) -> None:
        async def look(ids: Collection[str]) -> Mapping[str, bool]:
            return dict.fromkeys(await reads.read(lambda conn: find_ended(conn, ids)), True)

        super().__init__("operations", look, most=most)

    async def end_of(self, operation_id: OperationId, within: timedelta) -> None:
        """Return when the operation has ended, or time is up, or nobody may wait (any longer)."""
        await self.wait(operation_id, bool, within)
