"""Takes a new version of a document on; the old one serves until the instant the new one does."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.documents import DocumentReplaceRequest
from shared.contracts.enums import Action, ChangeType, OperationType, PurgeReason
from shared.contracts.ids import DocumentId
from shared.database.documents import load_documents, save_documents
from shared.database.listings import visible_document
from shared.database.locking import Lock
from shared.database.operations import load_operations, save_operations
from shared.database.purges import insert_purges
from shared.database.versions import insert_versions, load_versions
from shared.domain.authorization import reach
from shared.domain.document import Document, accept_replacement, require_current, require_free_slot
from shared.domain.errors import DocumentNotFound
from shared.domain.outcomes import purge_of
from shared.domain.space import Space
from shared.domain.version import Version
from shared.domain.work import Work
from shared.lifecycle.acceptance import Accepted, Change, accept, new_operation
from shared.lifecycle.candidates import new_version, next_number, open_space, owned_file
from shared.lifecycle.purges import new_purge
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


def replace_document(
    conn: Connection,
    document_id: DocumentId,
    body: DocumentReplaceRequest,
    request: Request,
    around: Surroundings,
) -> Accepted:
    """Accept a replacement of the document's file, made from its current `expectedVersion`."""
    space, document = changeable_document(conn, document_id, Action.DOCUMENT_UPDATE, request)
    require_current(document, body.expected_version)
    candidate = _candidate(conn, document)
    require_free_slot(document, candidate)
    now = around.clock()
    version = new_version(
        document_id=document.id,
        space=space,
        number=next_number(document),
        change=ChangeType.REPLACE,
        file=owned_file(conn, body.file_resource_id, request, now),
        around=around,
        now=now,
    )
    after = accept_replacement(document, candidate, version, now)
    if candidate is not None:
        _supersede(conn, space, candidate, around, now)
    insert_versions(conn, [version])
    save_documents(conn, [after])
    operation = new_operation(OperationType.DOCUMENT_REPLACE, space, version, request, around, now)
    work = Work(operation=operation, space=space, document=after, version=version)
    return accept(conn, work, [Change(document, after), Change(None, version)], request, around, now)


def changeable_document(
    conn: Connection, document_id: DocumentId, action: Action, request: Request
) -> tuple[Space, Document]:
    """A document that the caller may change, locked, in a space that takes mutations."""
    seen = visible_document(conn, reach(request.caller, action, request.roles), document_id)
    if seen is None:
        raise DocumentNotFound
    space = open_space(conn, seen.space_id, action, request)
    document = load_documents(conn, {document_id}, lock=Lock.UPDATE)[document_id]
    if document.is_hidden:
        raise DocumentNotFound
    return space, document


def _candidate(conn: Connection, document: Document) -> Version | None:
    """The version in the candidate slot; the document's lock protects it."""
    if document.candidate_version_id is None:
        return None
    return load_versions(conn, {document.candidate_version_id})[document.candidate_version_id]


def _supersede(conn: Connection, space: Space, version: Version, around: Surroundings, now: datetime) -> None:
    """A candidate that failed or was cancelled loses its slot: it is purged and cannot be retried any more."""
    operation = load_operations(conn, {version.operation_id}, lock=Lock.UPDATE)[version.operation_id]
    save_operations(conn, [replace(operation, is_retryable=False, updated_at=now)])
    work = Work(operation=operation, space=space, version=version)
    insert_purges(conn, [new_purge(work, purge_of(version, PurgeReason.SUPERSEDED, now), around, now)])
