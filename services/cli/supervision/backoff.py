"""When a child that has ended is started again: at once after a long run, later and later after short ones."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

FIRST_WAIT = timedelta(milliseconds=500)
LONGEST_WAIT = timedelta(seconds=30)
STEADY_AFTER = timedelta(seconds=20)
"""A run this long was a good one: its end is an accident, not a child that cannot start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How many short runs a child has had in a row."""

    short_runs: int = 0

    def after(self, run: timedelta) -> Self:
        """The back-off after a run of this length has ended."""
        return replace(self, short_runs=0 if run >= STEADY_AFTER else self.short_runs + 1)

    @property
    def wait(self) -> timedelta:
        """How long to wait before the next start; doubles with every short run."""
        if self.short_runs == 0:
            return timedelta(0)
        doublings = min(self.short_runs - 1, 16)
        return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)
