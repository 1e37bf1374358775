"""Removes a version that nothing needs any more from the provider."""

from services.worker.outcomes import Outcome, Purged
from services.worker.steps.tools import Tools, space_of
from shared.contracts.commands import PurgeVersion


async def purge(command: PurgeVersion, tools: Tools) -> Outcome:
    """Remove exactly the named document, or all that bear the version's name."""
    await tools.provider.remove(space_of(command), native_id=command.native_document_id, name_prefix=command.version_id)
    return Purged()
