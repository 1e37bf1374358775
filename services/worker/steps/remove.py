"""Removes the provider's side of a space."""

from services.worker.outcomes import Outcome, Succeeded
from services.worker.steps.tools import Tools, space_of
from shared.contracts.commands import RemoveSpace
from shared.contracts.events import SpaceRemoved


async def remove(command: RemoveSpace, tools: Tools) -> Outcome:
    """Remove the space with all that is in it."""
    await tools.provider.remove_space(space_of(command))
    return Succeeded(SpaceRemoved())
