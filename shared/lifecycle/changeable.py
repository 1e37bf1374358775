"""What a caller may change, locked for the change."""

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import DocumentId, SpaceId
from shared.database.documents import load_documents
from shared.database.listings import visible_document, visible_space
from shared.database.locking import Lock
from shared.database.spaces import load_spaces
from shared.domain.authorization import reach
from shared.domain.document import Document
from shared.domain.errors import DocumentNotFound, SpaceNotFound
from shared.domain.space import Space
from shared.lifecycle.candidates import held_open
from shared.lifecycle.request import Request


def changeable_space(conn: Connection, space_id: SpaceId, action: Action, request: Request) -> Space:
    """A space that the caller may change, in whatever status it is; nothing is taken into it meanwhile."""
    if visible_space(conn, reach(request.caller, action, request.roles), space_id) is None:
        raise SpaceNotFound
    return load_spaces(conn, {space_id}, lock=Lock.UPDATE)[space_id]


def changeable_document(
    conn: Connection, document_id: DocumentId, action: Action, request: Request
) -> tuple[Space, Document]:
    """A document that the caller may change, locked, in a space that takes mutations.

    A grant on the document alone is enough; the space is only held against being deleted.
    """
    seen = visible_document(conn, reach(request.caller, action, request.roles), document_id)
    if seen is None:
        raise DocumentNotFound
    space = held_open(conn, seen.space_id)
    document = load_documents(conn, {document_id}, lock=Lock.UPDATE)[document_id]
    if document.is_hidden:
        raise DocumentNotFound
    return space, document
