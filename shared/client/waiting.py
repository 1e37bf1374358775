"""Waiting for the end of what the gateway has accepted: the gateway holds its answer back until then, for a while."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import anyio

from shared.client.errors import StillRunning
from shared.client.exchange import Pause
from shared.client.gateway import AT_ONCE
from shared.contracts.enums import OperationStatus, SpaceStatus
from shared.contracts.ids import OperationId, SpaceId
from shared.contracts.operations import Operation
from shared.contracts.spaces import Space
from shared.domain.errors import Transient
from shared.domain.operation import OPERATION_END

UNSAID = timedelta(seconds=1)
"""How long to wait when an answer does not say when to look again."""


class ReadsOperations(Protocol):
    """Where operations are looked at."""

    async def get_operation(self, operation_id: OperationId, *, wait: timedelta = AT_ONCE) -> Operation:
        """How far an operation is, when it has ended or after `wait`, whatever comes first."""


class ReadsSpaces(Protocol):
    """Where spaces are looked at."""

    async def get_space(self, space_id: SpaceId) -> Space:
        """One space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How long an end is waited for, and by which clock. A gateway that is away for a while does not end the wait."""

    within: timedelta
    clock: Callable[[], float] = time.monotonic
    """Seconds since some moment."""
    pause: Pause = anyio.sleep
    hold: timedelta = timedelta(seconds=10)
    """How long the gateway may hold back its answer while nothing has ended: as often as that is there a look."""
    seen: Callable[[Operation], Awaitable[None]] | None = None
    """Told each look at an operation."""
    missed: Callable[[Transient], None] | None = None
    """Told each look that got no answer, so that nobody waits in silence."""

    async def for_operation(self, reads: ReadsOperations, operation_id: OperationId) -> Operation:
        """The operation in its terminal state; `StillRunning` when time is up.

        The first look is answered at once. A gateway that holds nothing back, because it stops or because too many wait
        already, is looked at as often as it asks for.
        """
        deadline = self.clock() + self.within.total_seconds()
        hold: timedelta | None = None
        while True:
            asked_at = self.clock()
            try:
                operation = await reads.get_operation(operation_id, wait=hold or AT_ONCE)
            except Transient as error:
                if self.missed is not None:
                    self.missed(error)
                rest = error.retry_after or UNSAID
            else:
                if self.seen is not None:
                    await self.seen(operation)
                if operation.status in OPERATION_END:
                    return operation
                rest = AT_ONCE if self._is_held(hold, asked_at) else _asked_for(operation)
            await self._rest(rest, deadline, f"operation {operation_id}")
            hold = min(self.hold, timedelta(seconds=max(0.0, deadline - self.clock())))

    async def for_space(self, reads: ReadsSpaces, space_id: SpaceId) -> Space:
        """The space once it is not CREATING any more, whatever became of it."""
        deadline = self.clock() + self.within.total_seconds()
        while (space := await reads.get_space(space_id)).status is SpaceStatus.CREATING:
            await self._rest(timedelta(milliseconds=250), deadline, f"space {space_id}")
        return space

    def _is_held(self, hold: timedelta | None, asked_at: float) -> bool:
        """Whether the gateway's holding back spares a rest; without a `hold` it was the first look, never held back."""
        if hold is None:
            return self.hold > AT_ONCE
        return hold > AT_ONCE and self.clock() - asked_at >= hold.total_seconds() / 2

    async def _rest(self, wait: timedelta, deadline: float, what: str) -> None:
        left = deadline - self.clock()
        if left <= 0:
            raise StillRunning(what, self.within)
        if wait:
            await self.pause(min(wait.total_seconds(), left))


def _asked_for(operation: Operation) -> timedelta:
    asked = operation.next_poll_after_ms
    return UNSAID if asked is None else timedelta(milliseconds=asked)


def has_succeeded(operation: Operation) -> bool:
    """Whether it ended well."""
    return operation.status is OperationStatus.SUCCEEDED
