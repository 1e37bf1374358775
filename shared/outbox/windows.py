"""How many commands of each step may be unanswered at once: about twice the hands that work on it."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.contracts.enums import Step

COMMANDS_PER_SLOT = 2
"""One being worked on, one waiting in the stream, so that no worker idles between two."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The size of each step's window. `unheard` applies to a step for which no worker has announced slots."""

    unheard: int

    def sizes(self, slots: Mapping[Step, int]) -> dict[Step, int]:
        """The window of every step, from the slots that workers have announced."""
        return {step: COMMANDS_PER_SLOT * slots[step] if slots.get(step) else self.unheard for step in Step}

    def room(self, slots: Mapping[Step, int], published: Mapping[Step, int]) -> dict[Step, int]:
        """How many more commands of each step may be published now."""
        return {step: max(0, size - published.get(step, 0)) for step, size in self.sizes(slots).items()}
