"""Takes a new version of a document on; the old one serves until the instant the new one does."""

from sqlalchemy import Connection

from shared.contracts.documents import DocumentReplaceRequest
from shared.contracts.enums import Action, ChangeType, OperationType
from shared.contracts.ids import DocumentId
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.candidates import new_version, next_number, owned_file
from shared.lifecycle.request import Request
from shared.lifecycle.slots import open_slot, take_slot
from shared.lifecycle.surroundings import Surroundings


def replace_document(
    conn: Connection,
    document_id: DocumentId,
    body: DocumentReplaceRequest,
    request: Request,
    around: Surroundings,
) -> Accepted:
    """Accept a replacement of the document's file, made from its current `expectedVersion`."""
    slot = open_slot(conn, document_id, body.expected_version, Action.DOCUMENT_UPDATE, request)
    now = around.clock()
    version = new_version(
        document_id=document_id,
        space=slot.space,
        number=next_number(slot.document),
        change=ChangeType.REPLACE,
        file=owned_file(conn, body.file_resource_id, request, now),
        around=around,
        now=now,
    )
    return take_slot(conn, slot, version, OperationType.DOCUMENT_REPLACE, request, around, now, reason=body.reason)
