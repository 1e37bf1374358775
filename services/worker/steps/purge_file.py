"""Deletes a stored file that nothing names any more."""

from services.worker.outcomes import Outcome, Purged
from services.worker.steps.tools import Tools
from shared.contracts.commands import PurgeFile


async def purge_file(command: PurgeFile, tools: Tools) -> Outcome:
    """Delete the object."""
    await tools.files.delete(command.object_key)
    return Purged()
