"""Changes what a document is called and what is said of it; the change is searched and shown at once."""

from sqlalchemy import Connection

from shared.contracts.documents import DocumentUpdateRequest
from shared.contracts.enums import Action, OperationType
from shared.contracts.ids import DocumentId
from shared.database.documents import save_documents
from shared.domain.document import described, require_current
from shared.lifecycle.changeable import changeable_document
from shared.lifecycle.request import Request
from shared.lifecycle.settling import SettledDocument, changed_fields, record_settled
from shared.lifecycle.slots import active_of
from shared.lifecycle.surroundings import Surroundings


def update_document(
    conn: Connection, document_id: DocumentId, body: DocumentUpdateRequest, request: Request, around: Surroundings
) -> SettledDocument:
    """Rename the document or change its metadata, from its current `expectedVersion`."""
    _, document = changeable_document(conn, document_id, Action.DOCUMENT_UPDATE, request)
    require_current(document, body.expected_version)
    now = around.clock()
    after = described(document, body.name, body.metadata, now)
    is_tagged_anew = after.metadata.tags != document.metadata.tags
    save_documents(conn, [after], tags_changed={document.id} if is_tagged_anew else ())
    action = OperationType.DOCUMENT_UPDATE.value
    record_settled(conn, action, document, after, request, around, now, details=changed_fields(body))
    return SettledDocument(document=after, active=active_of(conn, after))
