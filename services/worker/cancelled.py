"""Which operations are known to be cancelled: heard while listening, or said before this process listened."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection

import structlog

from shared.contracts.ids import OperationId
from shared.domain.errors import StoreUnavailable

log = structlog.get_logger()

REMEMBERED = 100_000


class CancelledOperations:
    """Only saves work, so what cannot be found out counts as "not known to be cancelled"."""

    def __init__(
        self, said_before: Callable[[], Awaitable[Collection[OperationId]]], *, generation: Callable[[], int]
    ) -> None:
        """`generation` changes whenever something may have been missed; `said_before` then tells what was said."""
        self._said_before = said_before
        self._generation = generation
        self._complete_in: int | None = None
        self._known: OrderedDict[OperationId, None] = OrderedDict()
        self._completing = asyncio.Lock()

    def hear(self, operation: OperationId) -> None:
        """Take note of an announcement."""
        self._known[operation] = None
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    async def includes(self, operation: OperationId) -> bool:
        """Whether an operation is cancelled."""
        if self._complete_in != self._generation():
            async with self._completing:
                await self._complete()
        return operation in self._known

    async def _complete(self) -> None:
        generation = self._generation()
        if self._complete_in == generation:
            return
        try:
            said = await self._said_before()
        except StoreUnavailable as error:
            log.warning("worker.cancellations.unknown", error=error.message)
            return
        for operation in said:
            self.hear(operation)
        self._complete_in = generation
