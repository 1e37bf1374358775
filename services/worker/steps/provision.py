"""Makes the provider's side of a space."""

from services.worker.outcomes import Outcome, Succeeded
from services.worker.steps.tools import Tools, space_of
from shared.contracts.commands import ProvisionSpace
from shared.contracts.events import SpaceProvisioned


async def provision(command: ProvisionSpace, tools: Tools) -> Outcome:
    """Find or make the space at the provider."""
    return Succeeded(SpaceProvisioned(native_space_id=await tools.provider.provision(space_of(command))))
