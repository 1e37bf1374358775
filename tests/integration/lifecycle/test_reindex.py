"""A reindex takes the candidate slot by the same rules as a replacement; the same on both databases."""

import pytest

from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import ChangeType, FailureClass, FailureReason, PurgeReason, Step, VersionStatus
from shared.contracts.ids import DocumentId
from shared.domain.errors import OperationPending
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.reindex_document import reindex_document
from tests.integration.lifecycle.bench import Bench

pytestmark = pytest.mark.anyio


async def reindex(bench: Bench, document_id: DocumentId, expected: int) -> Accepted:
    body = DocumentLockRequest(expected_version=expected)
    return await bench.write(lambda conn: reindex_document(conn, document_id, body, bench.request(), bench.around))


async def test_a_reindex_is_one_step_on_a_version_with_the_same_file(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    before = await bench.document(document_id)
    old = await bench.version(before.active_version_id or "")

    accepted = await reindex(bench, document_id, 1)

    version = accepted.work.version
    assert version is not None
    assert (accepted.command.step, version.change_type, version.number) == (Step.REINDEX, ChangeType.REINDEX, 2)
    assert (version.file_id, version.source, version.native_document_id) == (old.file_id, old.source, None)
    await bench.finish(accepted.work.operation.id)
    after = await bench.document(document_id)
    assert (after.active_version_id, after.candidate_version_id, after.lock_version) == (version.id, None, 3)
    assert (await bench.version(old.id)).status is VersionStatus.RETIRED


async def test_a_failed_reindex_gives_up_its_slot_and_cannot_be_retried_any_more(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    first = await reindex(bench, document_id, 1)
    await bench.tell(bench.failed(first.command.command_id, FailureReason.NOT_VERIFIED, FailureClass.PERMANENT))
    failed = await bench.document(document_id)
    assert (failed.candidate_version_id, failed.lock_version) == (first.work.version.id, 2)  # type: ignore[union-attr]

    second = await reindex(bench, document_id, 2)

    assert (await bench.operation(first.work.operation.id)).is_retryable is False
    purged = await bench.rows("SELECT version_id, reason FROM purge")
    assert purged == [(first.work.version.id, PurgeReason.SUPERSEDED.value)]  # type: ignore[union-attr]
    await bench.finish(second.work.operation.id)
    assert (await bench.document(document_id)).active_version_id == second.work.version.id  # type: ignore[union-attr]


async def test_of_a_reindex_and_a_replacement_one_runs(bench: Bench) -> None:
    document_id = await bench.ingested(await bench.active_space())
    await reindex(bench, document_id, 1)

    with pytest.raises(OperationPending):
        await bench.replace(document_id, expected=2)
    with pytest.raises(OperationPending):
        await reindex(bench, document_id, 2)
