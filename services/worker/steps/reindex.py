"""Uploads and ingests a version's file as a separate provider document."""

from services.worker.outcomes import Outcome
from services.worker.steps.ingest import ingest
from services.worker.steps.tools import Tools
from shared.contracts.commands import ReindexVersion


async def reindex(command: ReindexVersion, tools: Tools) -> Outcome:
    """Both in one step: an ingest uploads what the provider does not have, and a new version it never has."""
    return await ingest(command, tools)
