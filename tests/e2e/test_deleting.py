"""Documents deleted through real processes: neither the provider nor the object store holds anything of them then."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.cli.stack import Stack
from shared.client.waiting import has_succeeded
from shared.contracts.documents import DocumentDeleteRequest
from shared.contracts.enums import OperationStatus
from shared.contracts.ids import DocumentId, OperationId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.retrieval import RetrievalMatches
from tests.e2e.conversation import Conversation, conversation
from tests.e2e.family import stack_of_its_own
from tests.e2e.test_kills import SECTIONS, indexed, long_document, until, until_ingesting

NOTES = b"# Boats\n\nThe ferry to the island leaves at seven and at noon.\n"


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[Stack]:
    """A gateway in which uploads are soon forgotten, so that a file lives only as long as its document."""
    variables = {"KNOWGATE_FILES_RESOURCE_TTL": "5", "KNOWGATE_PROJECTOR_HOUSEKEEPING_INTERVAL": "1"}
    with stack_of_its_own(tmp_path, variables) as stack:
        yield stack


async def delete(talk: Conversation, document_id: DocumentId, expected: int) -> OperationId:
    request = DocumentDeleteRequest(expected_version=expected, reason="It is out of date.")
    return (await talk.client.gateway.delete_document(document_id, request)).operation_id


async def until_nothing_is_left(stack: Stack) -> None:
    """Return when index and object store are empty."""

    async def is_empty() -> bool:
        objects = [path for path in stack.home.objects.rglob("*") if path.is_file()]
        return not objects and not indexed(stack)

    await until(is_empty)


async def test_a_document_that_served_and_one_that_was_being_ingested_leave_nothing_behind(forgetful: Stack) -> None:
    async with conversation(forgetful, "deleting") as talk:
        served = await talk.submit("boats.md", NOTES)
        assert has_succeeded(await talk.end_of(served.operation_id))
        assert isinstance(await talk.search("When does the ferry leave?"), RetrievalMatches)
        begun = await talk.submit("plan.md", long_document(SECTIONS))
        await until_ingesting(talk, begun.document_id)

        deletes = [await delete(talk, served.document_id, 1), await delete(talk, begun.document_id, 0)]

        assert not isinstance(await talk.search("When does the ferry leave?"), RetrievalMatches)
        assert [has_succeeded(await talk.end_of(operation)) for operation in deletes] == [True, True]
        work = await talk.client.gateway.get_operation(begun.operation_id)
        assert work.status is OperationStatus.CANCELLED
        await until_nothing_is_left(forgetful)


async def test_an_ingest_that_is_cancelled_leaves_nothing_at_the_provider(forgetful: Stack) -> None:
    async with conversation(forgetful, "cancelling") as talk:
        accepted = await talk.submit("plan.md", long_document(SECTIONS))
        await until_ingesting(talk, accepted.document_id)

        await talk.client.gateway.cancel_operation(accepted.operation_id, OperationReasonRequest(reason="Too early."))

        assert (await talk.end_of(accepted.operation_id)).status is OperationStatus.CANCELLED

        async def is_removed() -> bool:
            return not indexed(forgetful)

        await until(is_removed)
