"""Takes a document out of search, citations and downloads, and back into them, at once."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection

from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import Action, OperationType
from shared.contracts.ids import DocumentId
from shared.database.documents import save_documents
from shared.domain.document import require_current, switched
from shared.lifecycle.changeable import changeable_document
from shared.lifecycle.recording import reason_details
from shared.lifecycle.request import Request
from shared.lifecycle.settling import SettledDocument, record_settled
from shared.lifecycle.slots import active_of
from shared.lifecycle.surroundings import Surroundings

_MOVES: Final[Mapping[bool, OperationType]] = {
    True: OperationType.DOCUMENT_ENABLE,
    False: OperationType.DOCUMENT_DISABLE,
}


def switch_document(
    conn: Connection,
    document_id: DocumentId,
    body: DocumentLockRequest,
    request: Request,
    around: Surroundings,
    *,
    enabled: bool,
) -> SettledDocument:
    """Enable or disable the document, from its current `expectedVersion`; one that is so already stays as it is."""
    _, document = changeable_document(conn, document_id, Action.DOCUMENT_UPDATE, request)
    require_current(document, body.expected_version)
    now = around.clock()
    after = switched(document, enabled, now)
    if after is not document:
        save_documents(conn, [after])
    action = _MOVES[enabled].value
    record_settled(conn, action, document, after, request, around, now, details=reason_details(body.reason))
    return SettledDocument(document=after, active=active_of(conn, after))
