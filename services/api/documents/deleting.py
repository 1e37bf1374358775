"""Documents: delete."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.documents.views import operation_accepted
from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.replays import may_act_on_document
from shared.contracts.documents import DocumentDeleteRequest
from shared.contracts.enums import Action
from shared.contracts.ids import DocumentId
from shared.contracts.route import Route
from shared.contracts.routes import DOCUMENT_DELETE
from shared.lifecycle.delete_document import delete_document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDeleting:
    """The end of documents."""

    moves: Moves

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {DOCUMENT_DELETE: self.delete}

    async def delete(self, call: Call) -> Answer:
        """Take the end of a document on; from the answer on nobody sees it."""
        document_id = call.id("documentId", DocumentId)
        body = await call.read(DocumentDeleteRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: delete_document(conn, document_id, body, request, self.moves.around),
            view=lambda accepted: operation_accepted(accepted.work),
            reauthorise=may_act_on_document(call, Action.DOCUMENT_DELETE, self.moves.roles),
        )
