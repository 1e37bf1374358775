"""What is under way in this process, and the ways in which it may be told to stop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto, unique

from shared.contracts.ids import CommandId, OperationId


@unique
class Stop(Enum):
    """Why the work on a command should not go on, the most urgent first."""

    LOST = auto()
    """The delivery may be in other hands."""
    SHUTDOWN = auto()
    CANCELLED = auto()
    DEADLINE = auto()
    """Its time is up; nobody is told this, it shows by itself."""


class Hand:
    """One command under way."""

    def __init__(self, command: CommandId, operation: OperationId | None) -> None:
        self.command = command
        self.operation = operation
        self._reasons: set[Stop] = set()
        self._told = _new_future()

    @property
    def told(self) -> asyncio.Future[None]:
        """Resolved as soon as there is a reason to stop."""
        return self._told

    def reason(self) -> Stop | None:
        """The most urgent reason to stop."""
        return next((stop for stop in Stop if stop in self._reasons), None)

    def tell(self, reason: Stop) -> None:
        """Ask the work to stop."""
        self._reasons.add(reason)
        if not self._told.done():
            self._told.set_result(None)

    def heed_cancel(self) -> None:
        """The cancel was heard and is acted on once; only other reasons count from now on."""
        self.operation = None
        self._reasons.discard(Stop.CANCELLED)
        if not self._reasons:
            self._told = _new_future()


class Hands:
    """All of them."""

    def __init__(self) -> None:
        self._busy: set[Hand] = set()
        self._is_shutting_down = False

    @contextmanager
    def take(self, command: CommandId, operation: OperationId | None) -> Iterator[Hand]:
        """A hand for one command. `operation`: the one whose cancellation stops it."""
        hand = Hand(command, operation)
        if self._is_shutting_down:
            hand.tell(Stop.SHUTDOWN)
        self._busy.add(hand)
        try:
            yield hand
        finally:
            self._busy.discard(hand)

    def commands(self) -> tuple[str, ...]:
        """The commands that are under way."""
        return tuple(sorted(str(hand.command) for hand in self._busy))

    def cancel(self, operation: OperationId) -> None:
        """Stop what is under way for an operation."""
        for hand in self._busy:
            if hand.operation == operation:
                hand.tell(Stop.CANCELLED)

    def shut_down(self) -> None:
        """Stop everything, and whatever comes from now on."""
        self._is_shutting_down = True
        for hand in self._busy:
            hand.tell(Stop.SHUTDOWN)


def _new_future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()
