"""What a search answers while versions are replaced and indexed again: always one whole version, and never nothing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from shared.auth.sealing import Sealer
from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import FailureReason, OperationStatus
from shared.contracts.ids import DocumentId, SpaceId
from shared.contracts.retrieval import RetrievalMatches, RetrievalRequest
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.domain.authorization import DEFAULT_ROLES
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.reindex_document import reindex_document
from shared.lifecycle.settings import PipelineSettings
from shared.providers.scripted.script import OBEDIENT, Call, Faults, Script
from shared.retrieval.search import Searcher
from tests.integration.lifecycle.bench import ANA
from tests.integration.services.worker.works import Works, works_at
from tests.support.messaging import messaging_settings
from tests.support.worker import Place, quick_worker

ALWAYS = 1000
OLD, NEW = b"The old pump.\n\nIt is the old one.", b"The new pump.\n\nIt is the new one."
BULK = 12
PIPELINE = PipelineSettings(retry_first_wait=timedelta(milliseconds=5), retired_grace=timedelta(seconds=2))


@pytest.fixture
async def works(
    nats_url: str, tmp_path: Path, sqlite: DatabaseSettings, opened: Callable[[DatabaseSettings], Database]
) -> AsyncIterator[Works]:
    place = Place(root=tmp_path, messaging=messaging_settings(nats_url))
    async with works_at(place, opened(sqlite), PIPELINE, quick_worker()) as works:
        yield works


async def found(works: Works, document_id: DocumentId) -> str:
    """Whose text a search finds in a document: "old", "new", both, or nothing."""
    searcher = Searcher(
        database=works.bench.database,
        provider=works.provider,
        sealer=Sealer([b"k" * 64]),
        roles=DEFAULT_ROLES,
        on_foreign=lambda _: None,
    )
    request = RetrievalRequest(query="which pump is the one", document_ids=(document_id,))
    answer = await searcher.search(ANA, request, "trace")
    texts = [hit.content for hit in answer.hits] if isinstance(answer, RetrievalMatches) else []
    return " and ".join(word for word in ("old", "new") if any(word in text for text in texts))


@asynccontextmanager
async def watched(works: Works, *document_ids: DocumentId) -> AsyncIterator[set[str]]:
    """What searches find in the documents, all the time."""
    seen: set[str] = set()

    async def watch() -> None:
        while True:
            for document_id in document_ids:
                seen.add(await found(works, document_id))
            await asyncio.sleep(0.005)

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        yield seen
        watching.cancel()


async def old_document(works: Works, space_id: SpaceId, name: str = "pump.txt") -> DocumentId:
    accepted = await works.bench.upload_resource(space_id, await works.file(name, OLD))
    assert (await works.ended(accepted.work.operation.id)).status is OperationStatus.SUCCEEDED
    assert accepted.work.document is not None
    return accepted.work.document.id


async def replace(works: Works, document_id: DocumentId) -> Accepted:
    lock = (await works.bench.document(document_id)).lock_version
    return await works.bench.replace_with(document_id, lock, await works.file("new.txt", NEW))


async def reindex(works: Works, document_id: DocumentId) -> Accepted:
    bench = works.bench
    body = DocumentLockRequest(expected_version=(await bench.document(document_id)).lock_version)
    return await bench.write(lambda conn: reindex_document(conn, document_id, body, bench.request(), bench.around))


FAILURES = (
    Script(faults={Call.UPLOAD: Faults(unavailable=ALWAYS)}),
    Script(faults={Call.START: Faults(unavailable=ALWAYS)}),
    Script(failed_ingests=ALWAYS, failure=FailureReason.NO_TEXT),
    Script(faults={Call.PROBE: Faults(unavailable=ALWAYS)}),
    Script(rejects=FailureReason.FILE_ENCRYPTED),
)
"""In each of them another step of a new version fails for good."""


async def test_the_old_version_answers_throughout_whichever_step_of_the_new_one_fails(works: Works) -> None:
    document_id = await old_document(works, await works.space())
    for script in FAILURES:
        works.provider.tell("new.txt", script)
        await stays_old(works, document_id, replace)
        if script.failed_ingests == 0:  # the old version is of the same file, and would seem to have failed as well
            works.provider.tell("pump.txt", script)
            await stays_old(works, document_id, reindex)
    works.provider.tell("new.txt", OBEDIENT)
    async with watched(works, document_id) as seen:
        await works.ended((await replace(works, document_id)).work.operation.id)
    assert seen <= {"old", "new"}
    assert await found(works, document_id) == "new"


async def stays_old(
    works: Works, document_id: DocumentId, move: Callable[[Works, DocumentId], Awaitable[Accepted]]
) -> None:
    """The move fails for good, and nobody has noticed anything of it."""
    async with watched(works, document_id) as seen:
        ended = await works.ended((await move(works, document_id)).work.operation.id)
    assert ended.status is OperationStatus.FAILED
    assert seen == {"old"}


async def test_while_a_whole_set_is_replaced_every_answer_is_of_one_version_and_none_is_empty(works: Works) -> None:
    space_id = await works.space()
    document_ids = [await old_document(works, space_id) for _ in range(BULK)]
    async with watched(works, *document_ids) as seen:
        replacing = [await replace(works, document_id) for document_id in document_ids]
        endings = [(await works.ended(accepted.work.operation.id)).status for accepted in replacing]
    assert endings == [OperationStatus.SUCCEEDED] * BULK
    assert seen <= {"old", "new"}
    assert {await found(works, document_id) for document_id in document_ids} == {"new"}
