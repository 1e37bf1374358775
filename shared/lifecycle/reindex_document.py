"""Has a document's active version indexed anew, as a version of its own; the old one serves until that one does."""

from sqlalchemy import Connection

from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import Action, ChangeType, OperationType
from shared.contracts.ids import DocumentId
from shared.domain.document import require_reindexable
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.candidates import new_version, next_number
from shared.lifecycle.request import Request
from shared.lifecycle.slots import OpenSlot, active_of, open_slot, take_slot
from shared.lifecycle.surroundings import Surroundings


def reindex_document(
    conn: Connection, document_id: DocumentId, body: DocumentLockRequest, request: Request, around: Surroundings
) -> Accepted:
    """Accept a reindex of the file that the document serves, made from its current `expectedVersion`.

    The file needs no lock of its own: the active version keeps it, and that ends only under the document's lock.
    """
    slot = open_slot(conn, document_id, body.expected_version, Action.DOCUMENT_REINDEX, request)
    return reindex_into(conn, slot, request, around, reason=body.reason)


def reindex_into(
    conn: Connection, slot: OpenSlot, request: Request, around: Surroundings, *, reason: str | None
) -> Accepted:
    """The same for a document that is locked already, and of which it is settled that it may be reindexed."""
    document = slot.document
    active = require_reindexable(document, active_of(conn, document))
    now = around.clock()
    version = new_version(
        document_id=document.id,
        space=slot.space,
        number=next_number(document),
        change=ChangeType.REINDEX,
        file=(active.file_id, active.source),
        around=around,
        now=now,
    )
    return take_slot(conn, slot, version, OperationType.DOCUMENT_REINDEX, request, around, now, reason=reason)
