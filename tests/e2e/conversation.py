"""What the tests of the whole gateway say to it, in a few words each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from services.cli.access import Client, opened
from services.cli.settings import CliSettings
from services.cli.spaces import ensure_space
from services.cli.stack import Stack
from shared.client.waiting import Waiting
from shared.contracts.documents import DocumentOperationAccepted, DocumentReplaceRequest, DocumentUploadRequest
from shared.contracts.files import FileResource
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.contracts.operations import Operation
from shared.contracts.retrieval import RetrievalRequest, RetrievalResult

ENDS_WITHIN = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One caller's talk with a gateway, about one space."""

    client: Client
    space_id: SpaceId

    async def send(self, name: str, content: bytes) -> FileResource:
        """Upload a file."""

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        return await self.client.files.upload(name, pieces, size=len(content))

    async def submit(self, name: str, content: bytes) -> DocumentOperationAccepted:
        """Upload a file and have a document made of it."""
        resource = await self.send(name, content)
        request = DocumentUploadRequest(file_resource_id=resource.file_resource_id, document_name=name)
        return await self.client.gateway.upload_document(self.space_id, request)

    async def replace(self, document_id: DocumentId, name: str, content: bytes) -> DocumentOperationAccepted:
        """Replace a document's content."""
        document = await self.client.gateway.get_document(document_id)
        resource = await self.send(name, content)
        request = DocumentReplaceRequest(
            file_resource_id=resource.file_resource_id, expected_version=document.lock_version
        )
        return await self.client.gateway.replace_document(document_id, request)

    async def end_of(self, operation_id: OperationId) -> Operation:
        """The operation in its terminal state."""
        return await Waiting(within=ENDS_WITHIN).for_operation(self.client.gateway, operation_id)

    async def search(self, query: str, *documents: DocumentId) -> RetrievalResult:
        """Search the space, or only these documents of it."""
        return await self.client.gateway.search(
            RetrievalRequest(query=query, knowledge_space_ids=(self.space_id,), document_ids=documents or None)
        )


@asynccontextmanager
async def conversation(stack: Stack, space_code: str) -> AsyncIterator[Conversation]:
    """A conversation about the space of that code, which is made if need be."""
    async with opened(stack.access(CliSettings(url=None))) as client:
        space = await ensure_space(client.gateway, space_code, domain="general")
        yield Conversation(client, space.space_id)
