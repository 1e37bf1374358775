"""The gateway as its callers see it: one method for each route of the contract, with the contract's models."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Generic, TypeVar

from shared.client.exchange import Exchange
from shared.contracts import routes
from shared.contracts.body import Body
from shared.contracts.documents import (
    Document,
    DocumentDeleteRequest,
    DocumentDetail,
    DocumentList,
    DocumentLockRequest,
    DocumentOperationAccepted,
    DocumentReplaceRequest,
    DocumentUpdateRequest,
    DocumentUploadRequest,
    EmptyRequest,
)
from shared.contracts.envelope import Envelope, ListEnvelope
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.contracts.operations import ManualRetryAccepted, Operation, OperationReasonRequest
from shared.contracts.paging import DEFAULT_PAGE_SIZE, Pagination
from shared.contracts.retrieval import (
    DEFAULT_CONTEXT_LENGTH,
    CitationSource,
    DownloadLink,
    RetrievalRequest,
    RetrievalResult,
)
from shared.contracts.route import Route
from shared.contracts.spaces import (
    Space,
    SpaceCreated,
    SpaceCreateRequest,
    SpaceDeleteRequest,
    SpaceList,
    SpaceOperationAccepted,
    SpaceUpdated,
    SpaceUpdateRequest,
)

Item_co = TypeVar("Item_co", bound=Body, covariant=True)
Data = TypeVar("Data")

AT_ONCE: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item_co]):
    """One page of a list and where it stands."""

    items: tuple[Item_co, ...]
    pagination: Pagination


class Gateway:
    """A gateway, asked in one caller's name.

    Reads and mutations are repeated while they fail for a while; a mutation's key makes that safe. `key` takes the
    place of the key that is made of the session and the request: the same key and request, the same effect, once.
    Raises what `shared.client.errors` lists.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def list_spaces(self, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE) -> Page[Space]:
        """One page of the spaces that the caller may see."""
        query = {"page": page, "pageSize": page_size}
        answer = await self._exchange.ask(routes.SPACE_LIST, ListEnvelope[SpaceList], query=query)
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def find_space(self, code: str) -> Space | None:
        """The visible space of that code, looked for page by page."""
        number, has_next = 1, True
        while has_next:
            page = await self.list_spaces(number)
            for space in page.items:
                if space.code == code:
                    return space
            number, has_next = number + 1, page.pagination.has_next
        return None

    async def create_space(self, request: SpaceCreateRequest, *, key: str | None = None) -> SpaceCreated:
        """Create a space; it is usable once it is ACTIVE."""
        return await self._change(routes.SPACE_CREATE, Envelope[SpaceCreated], {}, request, key)

    async def get_space(self, space_id: SpaceId) -> Space:
        """One space."""
        return (await self._exchange.ask(routes.SPACE_GET, Envelope[Space], ids={"spaceId": space_id})).data

    async def update_space(
        self, space_id: SpaceId, request: SpaceUpdateRequest, *, key: str | None = None
    ) -> SpaceUpdated:
        """Rename or describe a space."""
        return await self._change(routes.SPACE_UPDATE, Envelope[SpaceUpdated], {"spaceId": space_id}, request, key)

    async def delete_space(
        self, space_id: SpaceId, request: SpaceDeleteRequest, *, key: str | None = None
    ) -> SpaceOperationAccepted:
        """Delete an empty space."""
        ids = {"spaceId": space_id}
        return await self._change(routes.SPACE_DELETE, Envelope[SpaceOperationAccepted], ids, request, key)

    async def list_documents(
        self, space_id: SpaceId, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE
    ) -> Page[Document]:
        """One page of a space's documents."""
        answer = await self._exchange.ask(
            routes.DOCUMENT_LIST,
            ListEnvelope[DocumentList],
            ids={"spaceId": space_id},
            query={"page": page, "pageSize": page_size},
        )
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def all_documents(self, space_id: SpaceId) -> AsyncIterator[Document]:
        """Every document of a space, page by page."""
        number, has_next = 1, True
        while has_next:
            page = await self.list_documents(space_id, number)
            for document in page.items:
                yield document
            number, has_next = number + 1, page.pagination.has_next

    async def upload_document(
        self, space_id: SpaceId, request: DocumentUploadRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        """Make a document of an uploaded file."""
        ids = {"spaceId": space_id}
        return await self._change(routes.DOCUMENT_UPLOAD, Envelope[DocumentOperationAccepted], ids, request, key)

    async def get_document(self, document_id: DocumentId) -> DocumentDetail:
        """One document with its active version and its candidate."""
        ids = {"documentId": document_id}
        return (await self._exchange.ask(routes.DOCUMENT_GET, Envelope[DocumentDetail], ids=ids)).data

    async def update_document(
        self, document_id: DocumentId, request: DocumentUpdateRequest, *, key: str | None = None
    ) -> Document:
        """Rename a document or change its metadata."""
        ids = {"documentId": document_id}
        return await self._change(routes.DOCUMENT_UPDATE, Envelope[Document], ids, request, key)

    async def replace_document(
        self, document_id: DocumentId, request: DocumentReplaceRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        """Replace a document's content; the old version serves until the new one does."""
        ids = {"documentId": document_id}
        return await self._change(routes.DOCUMENT_REPLACE, Envelope[DocumentOperationAccepted], ids, request, key)

    async def enable_document(
        self, document_id: DocumentId, request: DocumentLockRequest, *, key: str | None = None
    ) -> Document:
        """Let a document be found again."""
        ids = {"documentId": document_id}
        return await self._change(routes.DOCUMENT_ENABLE, Envelope[Document], ids, request, key)

    async def disable_document(
        self, document_id: DocumentId, request: DocumentLockRequest, *, key: str | None = None
    ) -> Document:
        """Take a document out of search."""
        ids = {"documentId": document_id}
        return await self._change(routes.DOCUMENT_DISABLE, Envelope[Document], ids, request, key)

    async def reindex_document(
        self, document_id: DocumentId, request: DocumentLockRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        """Ingest a document's file again."""
        ids = {"documentId": document_id}
        return await self._change(routes.DOCUMENT_REINDEX, Envelope[DocumentOperationAccepted], ids, request, key)

    async def delete_document(
        self, document_id: DocumentId, request: DocumentDeleteRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        """Delete a document; it is invisible at once."""
        ids = {"documentId": document_id}
        return await self._change(routes.DOCUMENT_DELETE, Envelope[DocumentOperationAccepted], ids, request, key)

    async def create_download_link(self, document_id: DocumentId) -> DownloadLink:
        """A link to the active version's file, good for 60 seconds. Asked for once, never repeated."""
        ids = {"documentId": document_id}
        answer = await self._exchange.ask(
            routes.DOCUMENT_DOWNLOAD, Envelope[DownloadLink], ids=ids, body=EmptyRequest()
        )
        return answer.data

    async def search(self, request: RetrievalRequest) -> RetrievalResult:
        """Search what the caller may see."""
        return (await self._exchange.ask(routes.SEARCH, Envelope[RetrievalResult], body=request)).data

    async def read_citation(
        self, citation_id: str, *, before: int = DEFAULT_CONTEXT_LENGTH, after: int = DEFAULT_CONTEXT_LENGTH
    ) -> CitationSource:
        """A cited place with so many code points of text around it."""
        answer = await self._exchange.ask(
            routes.SOURCE_READ,
            Envelope[CitationSource],
            ids={"citationId": citation_id},
            query={"contextBefore": before, "contextAfter": after},
        )
        return answer.data

    async def get_operation(self, operation_id: OperationId, *, wait: timedelta = AT_ONCE) -> Operation:
        """How far an operation is, when it has ended or after `wait`, whatever comes first."""
        ids = {"operationId": operation_id}
        query = {"wait": wait.total_seconds()} if wait else None
        return (await self._exchange.ask(routes.OPERATION_GET, Envelope[Operation], ids=ids, query=query)).data

    async def cancel_operation(
        self, operation_id: OperationId, request: OperationReasonRequest, *, key: str | None = None
    ) -> Operation:
        """Cancel an upload, a replacement or a reindexing."""
        ids = {"operationId": operation_id}
        return await self._change(routes.OPERATION_CANCEL, Envelope[Operation], ids, request, key)

    async def retry_operation(
        self, operation_id: OperationId, request: OperationReasonRequest, *, key: str | None = None
    ) -> ManualRetryAccepted:
        """Try a failed operation once more, as a child of it."""
        ids = {"operationId": operation_id}
        return await self._change(routes.OPERATION_RETRY, Envelope[ManualRetryAccepted], ids, request, key)

    async def _change(
        self, route: Route, answer: type[Envelope[Data]], ids: Mapping[str, str], body: Body, key: str | None
    ) -> Data:
        return (await self._exchange.ask(route, answer, ids=ids, body=body, key=key)).data
