"""Brings a version's file to the provider."""

from services.worker.outcomes import Outcome, Succeeded
from services.worker.steps.tools import Tools, version_of
from shared.contracts.commands import UploadVersion
from shared.contracts.events import VersionUploaded


async def upload(command: UploadVersion, tools: Tools) -> Outcome:
    """Find the version's document by name, or create it."""
    return Succeeded(VersionUploaded(native_document_id=await tools.provider.upload(version_of(command))))
