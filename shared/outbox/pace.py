"""How many commands of each step go out in a second, from what was published in the last few."""

from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta

from shared.contracts.enums import Step

LOOKED_BACK = timedelta(seconds=2)


class Pace:
    """What was published lately."""

    def __init__(self) -> None:
        self._published: deque[tuple[datetime, Step, int]] = deque()

    def note(self, published: Mapping[Step, int], now: datetime) -> None:
        """So many commands of these steps were published now."""
        self._published.extend((now, step, total) for step, total in published.items())

    def per_second(self, now: datetime) -> dict[Step, float]:
        """The commands of every step in a second."""
        while self._published and self._published[0][0] <= now - LOOKED_BACK:
            self._published.popleft()
        totals = dict.fromkeys(Step, 0)
        for _, step, total in self._published:
            totals[step] += total
        return {step: total / LOOKED_BACK.total_seconds() for step, total in totals.items()}
