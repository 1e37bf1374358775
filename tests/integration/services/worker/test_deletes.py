"""Cancels and deletes from the request to the provider: what is not wanted is not made, and what was made goes."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import DocumentStatus, OperationStatus
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.contracts.spaces import SpaceDeleteRequest
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.lifecycle.delete_space import delete_space
from shared.lifecycle.reindex_document import reindex_document
from shared.providers.scripted.script import Call, Faults, Script
from shared.telemetry.stamps import utc_now
from tests.integration.lifecycle.bench import Bench, Watch
from tests.integration.lifecycle.masses import multiplied
from tests.integration.services.worker.works import QUICK, Works, document_of, projector_at
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.worker import Place, desk_at, worker_at

LONG = timedelta(hours=1)
MANY = 100


@pytest.fixture
async def works(
    nats_url: str, tmp_path: Path, sqlite: DatabaseSettings, opened: Callable[[DatabaseSettings], Database]
) -> AsyncIterator[Works]:
    """A desk; tests bring projector and worker."""
    place, database = Place(root=tmp_path, messaging=messaging_settings(nats_url)), opened(sqlite)
    async with desk_at(place) as desk:
        yield Works(desk, Bench(database, watch=Watch(utc_now()), settings=QUICK))


@pytest.fixture
async def manned(works: Works) -> AsyncIterator[Works]:
    """With both."""
    async with projector_at(works.desk, works.bench.database, QUICK), worker_at(works.desk.place):
        yield works


async def delete(works: Works, document_id: DocumentId) -> OperationId:
    document = await works.bench.document(document_id)
    return (await works.bench.delete(document_id, document.lock_version)).work.operation.id


def held(works: Works) -> int:
    """How many documents the provider has."""
    return len(works.provider._store.all())


async def test_a_document_that_was_deleted_while_it_waited_is_never_brought_to_the_provider(works: Works) -> None:
    async with projector_at(works.desk, works.bench.database, QUICK), worker_at(works.desk.place):
        space_id = await works.space()
    accepted = await works.upload(space_id)
    deleting = await delete(works, document_of(accepted).id)
    async with projector_at(works.desk, works.bench.database, QUICK), worker_at(works.desk.place):
        assert (await works.ended(deleting)).status is OperationStatus.SUCCEEDED
        await works.at_rest()
    version = await works.version_of(accepted)
    calls = {call: works.provider.calls(call, version.id) for call in (Call.UPLOAD, Call.START, Call.STOP)}
    assert calls == {Call.UPLOAD: 0, Call.START: 0, Call.STOP: 0}


async def test_a_delete_in_the_middle_of_an_ingest_ends_although_the_provider_fails_again_and_again(
    manned: Works,
) -> None:
    space_id = await manned.space()
    faults = {Call.STOP: Faults(unavailable=2), Call.REMOVE: Faults(unavailable=3)}
    manned.provider.tell("pump.txt", Script(ingest_time=LONG, faults=faults))
    accepted = await manned.upload(space_id)
    version = await manned.version_of(accepted)
    await until(lambda: manned.provider.calls(Call.START, version.id) == 1)

    deleting = await delete(manned, document_of(accepted).id)

    await manned.ended(deleting)
    await manned.becomes("SELECT status FROM document", (DocumentStatus.DELETED.value,))
    await manned.at_rest()
    assert (await manned.bench.operation(accepted.work.operation.id)).status is OperationStatus.CANCELLED
    assert held(manned) == 0


async def test_a_call_that_goes_on_while_its_operation_is_cancelled_leaves_nothing(manned: Works) -> None:
    space_id = await manned.space()
    manned.provider.tell("pump.txt", Script(delays={Call.UPLOAD: timedelta(seconds=1)}))
    accepted = await manned.upload(space_id)
    operation_id = accepted.work.operation.id
    await manned.operation_when(operation_id, lambda operation: operation.started_at is not None)
    await manned.bench.cancel(operation_id)
    assert (await manned.ended(operation_id)).status is OperationStatus.CANCELLED
    await manned.at_rest()
    assert held(manned) == 0


async def test_a_provider_that_does_not_stop_is_outlived_and_a_cancelled_operation_stays_cancelled(
    manned: Works,
) -> None:
    """It runs on to its end. Whichever of success and cancel is told first decides, and then it is decided."""
    space_id = await manned.space()
    manned.provider.tell("pump.txt", Script(ingest_time=timedelta(seconds=3), ignores_stop=True))
    accepted = await manned.upload(space_id)
    operation_id, version = accepted.work.operation.id, await manned.version_of(accepted)
    await until(lambda: manned.provider.calls(Call.START, version.id) == 1)
    assert (await manned.bench.cancel(operation_id)).is_cancelling
    ended = await manned.ended(operation_id)
    await manned.at_rest()
    assert ended.status is OperationStatus.SUCCEEDED
    assert await manned.bench.operation(operation_id) == ended
    assert held(manned) == 1


async def test_a_deleted_document_takes_every_version_that_it_had_with_it(manned: Works) -> None:
    document_id = await manned.uploaded(await manned.space())
    replaced = await manned.bench.replace_with(document_id, 1, await manned.file())
    await manned.ended(replaced.work.operation.id)
    body = DocumentLockRequest(expected_version=(await manned.bench.document(document_id)).lock_version)
    around, request = manned.bench.around, manned.bench.request()
    reindexed = await manned.bench.write(lambda conn: reindex_document(conn, document_id, body, request, around))
    await manned.ended(reindexed.work.operation.id)
    assert held(manned) >= 1

    assert (await manned.ended(await delete(manned, document_id))).status is OperationStatus.SUCCEEDED

    await manned.at_rest()
    assert held(manned) == 0
    assert await manned.bench.rows("SELECT DISTINCT status FROM document_version") == [("DELETED",)]


async def test_a_space_whose_queued_documents_are_deleted_is_empty_soon_and_goes_without_noise(works: Works) -> None:
    async with projector_at(works.desk, works.bench.database, QUICK), worker_at(works.desk.place):
        space_id = await works.space()
    await multiplied(works.bench, await works.upload(space_id), MANY)
    async with projector_at(works.desk, works.bench.database, QUICK):
        await works.becomes("SELECT count(*) > 0 FROM outbox WHERE sequence IS NOT NULL", (1,))
        for (document_id,) in await works.bench.rows("SELECT id FROM document"):
            await delete(works, DocumentId(str(document_id)))
        with capture_logs() as logs:
            async with worker_at(works.desk.place):
                await works.becomes("SELECT status, count(*) FROM document GROUP BY status", ("DELETED", MANY))
                await works.at_rest()
                await gone(works, space_id)
    assert [entry for entry in logs if entry["log_level"] in {"warning", "error", "critical"}] == []
    assert held(works) == 0


async def gone(works: Works, space_id: SpaceId) -> None:
    """Delete the space, to its end."""
    body, request, around = (
        SpaceDeleteRequest(expected_version=1, reason="Not needed."),
        works.bench.request(),
        works.bench.around,
    )
    accepted = await works.bench.write(lambda conn: delete_space(conn, space_id, body, request, around))
    assert (await works.ended(accepted.work.operation.id)).status is OperationStatus.SUCCEEDED
