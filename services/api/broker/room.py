"""What this process last heard of the room left in the command stream."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from shared.contracts.catalogue import DispatchRoom
from shared.contracts.enums import Step

ROOM_IS_TRUE_FOR: Final = timedelta(seconds=3)

MonotonicClock = Callable[[], float]
"""Seconds that never run backwards."""


class Room:
    """This process's copy of the room left in each step's window."""

    def __init__(self, monotonic: MonotonicClock) -> None:
        self._monotonic = monotonic
        self._left: dict[Step, int] = {}
        self._true_until = float("-inf")

    def hear(self, announced: DispatchRoom) -> None:
        """Take over what the dispatcher has just said."""
        self._left = dict(announced.room)
        self._true_until = self._monotonic() + ROOM_IS_TRUE_FOR.total_seconds()

    def take(self, step: Step) -> bool:
        """Take one place of a step's room; False when there is none, or nothing was heard lately."""
        left = self._left.get(step, 0)
        if left <= 0 or self._monotonic() > self._true_until:
            return False
        self._left[step] = left - 1
        return True
