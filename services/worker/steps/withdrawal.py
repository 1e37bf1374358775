"""Stops the provider's work on a version and removes what there is of it: for cancels and for cancelled work."""

from enum import Enum, auto, unique

from services.worker.steps.tools import Tools, known_as
from shared.providers.ports import IngestState, NativeDocument, VersionRef


@unique
class Withdrawal(Enum):
    """What became of it."""

    GONE = auto()
    """Nothing of the version runs or remains."""
    FINISHED = auto()
    """The provider was faster: it is done, and stays."""


async def withdraw(version: VersionRef, tools: Tools) -> Withdrawal:
    """Stop, wait until the provider confirms, remove. It may take for ever: the caller limits the time."""
    found = await _find(version, tools)
    if found is not None and found.state is IngestState.RUNNING:
        await tools.provider.stop_ingest(version, found.native_id)
        found = await _until_still(version, found, tools)
    if found is None:
        return Withdrawal.GONE
    if found.state is IngestState.DONE:
        return Withdrawal.FINISHED
    await tools.provider.remove(version.space, native_id=found.native_id, name_prefix=version.version_id)
    return Withdrawal.GONE


async def _find(version: VersionRef, tools: Tools) -> NativeDocument | None:
    """By native id, and by name: an upload whose answer was lost has left a document of which nobody knows the id."""
    found = await tools.provider.find(version)
    if found is None and version.native_id is not None:
        return await tools.provider.find(known_as(version, None))
    return found


async def _until_still(version: VersionRef, found: NativeDocument, tools: Tools) -> NativeDocument | None:
    waits = tools.pace.waits()
    seen: NativeDocument | None = found
    while seen is not None and seen.state is IngestState.RUNNING:
        await tools.sleep(next(waits))
        seen = await tools.provider.find(known_as(version, found.native_id))
    return seen
