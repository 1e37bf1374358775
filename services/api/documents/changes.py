"""What is changed of documents that are there: content, name, metadata, whether they are in use, their index."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.documents.views import document_body, operation_accepted
from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.replays import may_act_on_document
from shared.contracts.documents import DocumentLockRequest, DocumentReplaceRequest, DocumentUpdateRequest
from shared.contracts.enums import Action, Step
from shared.contracts.ids import DocumentId
from shared.contracts.route import Route
from shared.contracts.routes import (
    DOCUMENT_DISABLE,
    DOCUMENT_ENABLE,
    DOCUMENT_REINDEX,
    DOCUMENT_REPLACE,
    DOCUMENT_UPDATE,
)
from shared.lifecycle.once import Reauthorise
from shared.lifecycle.reindex_document import reindex_document
from shared.lifecycle.replace_document import replace_document
from shared.lifecycle.switch_document import switch_document
from shared.lifecycle.update_document import update_document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChanges:
    """Changes of documents."""

    moves: Moves

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {
            DOCUMENT_UPDATE: self.update,
            DOCUMENT_REPLACE: self.replace,
            DOCUMENT_ENABLE: self.enable,
            DOCUMENT_DISABLE: self.disable,
            DOCUMENT_REINDEX: self.reindex,
        }

    async def update(self, call: Call) -> Answer:
        """Rename a document or change its metadata."""
        document_id = call.id("documentId", DocumentId)
        body = await call.read(DocumentUpdateRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: update_document(conn, document_id, body, request, self.moves.around),
            needs_broker=False,
            view=lambda settled: document_body(settled.document, settled.active),
            reauthorise=self._may_still(call, Action.DOCUMENT_UPDATE),
        )

    async def replace(self, call: Call) -> Answer:
        """Take a new version of a document on."""
        document_id = call.id("documentId", DocumentId)
        body = await call.read(DocumentReplaceRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: replace_document(conn, document_id, body, request, self.moves.around),
            first_step=Step.UPLOAD,
            view=lambda accepted: operation_accepted(accepted.work),
            reauthorise=self._may_still(call, Action.DOCUMENT_UPDATE),
        )

    async def enable(self, call: Call) -> Answer:
        """Put a document back into use."""
        return await self._switch(call, enabled=True)

    async def disable(self, call: Call) -> Answer:
        """Take a document out of use."""
        return await self._switch(call, enabled=False)

    async def _switch(self, call: Call, *, enabled: bool) -> Answer:
        document_id = call.id("documentId", DocumentId)
        body = await call.read(DocumentLockRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: switch_document(conn, document_id, body, request, self.moves.around, enabled=enabled),
            needs_broker=False,
            view=lambda settled: document_body(settled.document, settled.active),
            reauthorise=self._may_still(call, Action.DOCUMENT_UPDATE),
        )

    async def reindex(self, call: Call) -> Answer:
        """Have the active version's file indexed anew."""
        document_id = call.id("documentId", DocumentId)
        body = await call.read(DocumentLockRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: reindex_document(conn, document_id, body, request, self.moves.around),
            first_step=Step.REINDEX,
            view=lambda accepted: operation_accepted(accepted.work),
            reauthorise=self._may_still(call, Action.DOCUMENT_REINDEX),
        )

    def _may_still(self, call: Call, action: Action) -> Reauthorise:
        return may_act_on_document(call, action, self.moves.roles)
