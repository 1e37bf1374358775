"""What a download serves: the active version of a document that the caller may download right now, or nothing."""

from sqlalchemy import Connection

from shared.contracts.enums import Action, DocumentStatus
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import DocumentId
from shared.database.listings import view_document
from shared.domain.authorization import RoleTable, reach
from shared.domain.document import is_searchable
from shared.domain.errors import Conflict, DocumentNotFound
from shared.domain.identity import Caller
from shared.domain.version import Version


class DocumentDisabled(Conflict):
    """Whoever disabled the document took it out of use."""

    message = "The document is disabled."


class DocumentNotReady(Conflict):
    """There is no version to serve."""

    code = ErrorCode.DOCUMENT_NOT_READY
    message = "The document has no active version yet."


def downloadable(conn: Connection, caller: Caller, document_id: DocumentId, roles: RoleTable) -> Version:
    """The version that a download would bring; NotFound for what the caller may not see."""
    view = view_document(conn, reach(caller, Action.DOCUMENT_DOWNLOAD, roles), document_id)
    if view is None:
        raise DocumentNotFound
    if view.document.status is DocumentStatus.DISABLED:
        raise DocumentDisabled
    if view.active is None or not is_searchable(view.document, view.active):
        raise DocumentNotReady
    return view.active
