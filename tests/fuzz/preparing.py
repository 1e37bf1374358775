"""Fills a gateway with something to find: spaces, documents, operations, citations, files."""

from collections.abc import AsyncIterator
from datetime import timedelta

from services.cli.access import Access, Client, opened
from services.cli.spaces import ensure_space
from shared.client.waiting import Waiting
from shared.contracts.documents import DocumentUploadRequest
from shared.contracts.ids import FileResourceId, SpaceId
from shared.contracts.retrieval import RetrievalMatches, RetrievalRequest
from tests.fuzz.live import Live

SPACES = 3
DOCUMENTS = 6
FILES = 30
TEXT = "Trains go before planes.\n\nA night in a hotel costs {number} euros at most.\n"
PATIENCE = Waiting(within=timedelta(minutes=2))


async def fill(access: Access, live: Live) -> None:
    """Make it all and tell `live`."""
    async with opened(access) as client:
        for number in range(SPACES):
            space = await ensure_space(client.gateway, f"fuzz-{number}", domain="general")
            live.learn({"spaceId": space.space_id, "version": space.version})
            for document in range(DOCUMENTS):
                await _add_document(client, space.space_id, number * DOCUMENTS + document, live)
        for number in range(FILES):
            await _upload(client, SPACES * DOCUMENTS + number, live)
        found = await client.gateway.search(RetrievalRequest(query="a night in a hotel"))
        if not isinstance(found, RetrievalMatches):
            raise AssertionError("nothing is found of what was just made")
        for hit in found.hits:
            live.add("citationId", hit.citation_id)


async def _add_document(client: Client, space_id: SpaceId, number: int, live: Live) -> None:
    file = await _upload(client, number, live)
    request = DocumentUploadRequest(file_resource_id=file, document_name=f"Travel {number}")
    accepted = await client.gateway.upload_document(space_id, request)
    await PATIENCE.for_operation(client.gateway, accepted.operation_id)
    live.learn({"documentId": accepted.document_id, "version": 1})
    live.add("operationId", accepted.operation_id)


async def _upload(client: Client, number: int, live: Live) -> FileResourceId:
    content = TEXT.format(number=number).encode()

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    resource = await client.files.upload(f"travel-{number}.txt", pieces, size=len(content))
    live.add("fileResourceId", resource.file_resource_id)
    return resource.file_resource_id
