"""How many commands of each step may be unanswered at once.

A command in the stream is past anybody's turn: who comes later waits behind it. So beside what is being worked on, the
stream holds only what keeps hands from idling until the next look: next to nothing of work that takes seconds, and one
command for each hand of work that takes milliseconds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from shared.contracts.enums import Step

COMMANDS_PER_SLOT = 2
"""At most: one being worked on, one waiting in the stream."""
NEXT_LOOK_WITHIN = timedelta(milliseconds=100)
"""From a worker's answer to the arrival of the command that takes its place, with some to spare."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The window of each step. `unheard` is its size for a step for which no worker has announced slots."""

    unheard: int

    def room(
        self, slots: Mapping[Step, int], pace: Mapping[Step, float], published: Mapping[Step, int]
    ) -> dict[Step, int]:
        """How many more commands of each step may be published now.

        `slots` are what workers have announced, `pace` the commands of each step that go out in a second, `published`
        those that are out.
        """
        return {
            step: max(0, self._size(slots.get(step, 0), pace.get(step, 0.0)) - published.get(step, 0)) for step in Step
        }

    def _size(self, slots: int, per_second: float) -> int:
        if slots == 0:
            return self.unheard
        ahead = math.ceil(per_second * NEXT_LOOK_WITHIN.total_seconds() - 0.5)
        return min(slots + ahead, COMMANDS_PER_SLOT * slots)
