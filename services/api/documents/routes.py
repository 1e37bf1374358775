"""Documents: upload, get, list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from services.api.documents.views import Slot, document_body, document_detail, operation_accepted
from services.api.edge.answers import Answer, found, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.paging import AFTER_NOTHING, page_query
from services.api.replays import may_act_on_new_document
from shared.contracts.documents import DocumentList, DocumentUploadRequest
from shared.contracts.enums import Action, OperationStatus, Step
from shared.contracts.ids import DocumentId, SpaceId
from shared.contracts.paging import DocumentListQuery
from shared.contracts.route import Route
from shared.contracts.routes import DOCUMENT_GET, DOCUMENT_LIST, DOCUMENT_UPLOAD
from shared.database.listings import ListedDocument, list_documents, view_document, visible_space
from shared.database.reached import is_document_in_reach
from shared.domain.authorization import Reach, reach
from shared.domain.errors import DocumentNotFound, SpaceNotFound
from shared.domain.version import Version
from shared.lifecycle.upload_document import upload_document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRoutes:
    """Documents."""

    moves: Moves
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {DOCUMENT_UPLOAD: self.upload, DOCUMENT_GET: self.get, DOCUMENT_LIST: self.list}

    async def upload(self, call: Call) -> Answer:
        """Take a document on, made of a file that the caller has uploaded."""
        space_id = call.id("spaceId", SpaceId)
        body = await call.read(DocumentUploadRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: upload_document(conn, space_id, body, request, self.moves.around),
            first_step=Step.UPLOAD,
            view=lambda accepted: operation_accepted(accepted.work),
            reauthorise=may_act_on_new_document(call, Action.DOCUMENT_UPLOAD, self.moves.roles),
        )

    async def get(self, call: Call) -> Answer:
        """One document with its active version and its candidate."""
        reached = self._reach(call, Action.DOCUMENT_VIEW)
        document_id = call.id("documentId", DocumentId)
        view = await self.moves.database.read(lambda conn: view_document(conn, reached, document_id))
        if view is None:
            raise DocumentNotFound
        active, candidate = _slot(view.active, view.active_operation), _slot(view.candidate, view.candidate_operation)
        return found(document_detail(view.document, active, candidate))

    async def list(self, call: Call) -> Answer:
        """One page of a space's documents."""
        reached = self._reach(call, Action.DOCUMENT_VIEW)
        space_id = call.id("spaceId", SpaceId)
        query = page_query(call, DocumentListQuery, self.most_items)
        documents, total = await self.moves.database.read(lambda conn: self._page(conn, reached, space_id, query))
        if total == 0:
            await self._require_space(reached, space_id)
        items = tuple(document_body(listed.document, listed.active) for listed in documents)
        return page_of(DocumentList(items=items), query, total)

    def _page(
        self, conn: Connection, reached: Reach, space_id: SpaceId, query: DocumentListQuery
    ) -> tuple[Sequence[ListedDocument], int]:
        if query.after is not None and not is_document_in_reach(conn, reached, query.after):
            raise DocumentNotFound(faults=(AFTER_NOTHING,))
        return list_documents(conn, reached, space_id, page=query.page, page_size=query.page_size, after=query.after)

    async def _require_space(self, reached: Reach, space_id: SpaceId) -> None:
        """An empty list is the answer only for a space that the caller may see."""
        if await self.moves.database.read(lambda conn: visible_space(conn, reached, space_id)) is None:
            raise SpaceNotFound

    def _reach(self, call: Call, action: Action) -> Reach:
        return reach(call.caller, action, self.moves.roles)


def _slot(version: Version | None, status: OperationStatus | None) -> Slot | None:
    return None if version is None else Slot(version=version, operation_status=status)
