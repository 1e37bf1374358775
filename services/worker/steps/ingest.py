"""Has the provider parse, embed and index a version, follows it to the end, and verifies what came of it."""

from collections.abc import Iterator

from services.worker.outcomes import Failed, Outcome, Succeeded
from services.worker.steps.tools import Tools, known_as, version_of
from shared.contracts.commands import IngestVersion, ReindexVersion
from shared.contracts.enums import FailureReason
from shared.contracts.events import VersionIngested
from shared.domain.errors import NotFound, ProviderUnavailable
from shared.providers.ports import IngestState, NativeDocument, VersionRef

MAY_START = frozenset({IngestState.IDLE, IngestState.FAILED, IngestState.CANCELLED})
"""Never for a document that runs or is done: a provider would throw away what it has."""
LOST = "The provider lost the document while it was ingested."


async def ingest(command: IngestVersion | ReindexVersion, tools: Tools) -> Outcome:
    """Ingest the version; its file is uploaded again if the provider has lost it."""
    version = version_of(command)
    found = await _find_or_upload(version, tools)
    version = known_as(version, found.native_id)
    if found.state in MAY_START:
        await _start(version, found.native_id, tools)
    return await _follow(version, tools)


async def _start(version: VersionRef, native_id: str, tools: Tools) -> None:
    """A document that is gone since we looked is no missing file: the next attempt uploads it again."""
    try:
        await tools.provider.start_ingest(version, native_id)
    except NotFound as error:
        raise ProviderUnavailable(LOST) from error


async def _find_or_upload(version: VersionRef, tools: Tools) -> NativeDocument:
    found = await tools.provider.find(version)
    if found is not None:
        return found
    native_id = await tools.provider.upload(known_as(version, None))
    return _require(await tools.provider.find(known_as(version, native_id)))


async def _follow(version: VersionRef, tools: Tools) -> Outcome:
    """Look until it has ended. A provider that has not begun yet is given time; the step's deadline ends that."""
    waits = tools.pace.waits()
    while True:
        found = _require(await tools.provider.find(version))
        match found.state:
            case IngestState.DONE:
                return await _verify(version, found, tools)
            case IngestState.FAILED:
                return Failed(found.failure or FailureReason.INTERNAL_ERROR)
            case IngestState.CANCELLED:
                return Failed(FailureReason.PROVIDER_UNAVAILABLE)
            case IngestState.IDLE | IngestState.RUNNING:
                if found.percent is not None:
                    await tools.progressed(found.percent)
                await tools.sleep(next(waits))


async def _verify(version: VersionRef, found: NativeDocument, tools: Tools) -> Outcome:
    """What a look at the result shows. Counts and reads may lag a little behind "done"."""
    waits, patience = tools.pace.waits(), tools.pace.verify_within.total_seconds()
    while not (result := await _look(version, found, tools)).is_verified and patience > 0:
        patience -= await _wait(waits, tools)
        found = _require(await tools.provider.find(version))
    return Succeeded(result)


async def _look(version: VersionRef, found: NativeDocument, tools: Tools) -> VersionIngested:
    return VersionIngested(
        native_document_id=found.native_id,
        done=found.state is IngestState.DONE,
        chunk_count=found.chunk_count,
        probe_found=found.chunk_count > 0 and await tools.provider.probe(version, found.native_id),
    )


async def _wait(waits: Iterator[float], tools: Tools) -> float:
    wait = next(waits)
    await tools.sleep(wait)
    return wait


def _require(found: NativeDocument | None) -> NativeDocument:
    if found is None:
        raise ProviderUnavailable(LOST)
    return found
