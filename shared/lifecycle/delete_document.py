"""Deletes a document: nobody sees it from here on, what runs on it is cancelled, and all of it is purged."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.documents import DocumentDeleteRequest
from shared.contracts.enums import Action, OperationType, ResourceType
from shared.contracts.ids import DocumentId
from shared.database.documents import save_documents
from shared.database.locking import Lock
from shared.database.operations import insert_operations, load_operations, save_operations
from shared.domain.deletion import hidden
from shared.domain.document import Document, require_current
from shared.domain.operation import Operation
from shared.domain.space import Space
from shared.domain.work import Work
from shared.lifecycle.acceptance import Change, new_operation, record_changes
from shared.lifecycle.changeable import changeable_document
from shared.lifecycle.deletion import begin_deletes
from shared.lifecycle.request import Request
from shared.lifecycle.slots import candidate_of
from shared.lifecycle.stopping import stop_work
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleting:
    """A delete that was taken on. It has no command of its own: its purges are issued when they are due."""

    work: Work
    command: None = None


def delete_document(
    conn: Connection,
    document_id: DocumentId,
    body: DocumentDeleteRequest,
    request: Request,
    around: Surroundings,
) -> Deleting:
    """Accept the end of a document, whatever has become of it, from its current `expectedVersion`."""
    space, document = changeable_document(conn, document_id, Action.DOCUMENT_DELETE, request)
    require_current(document, body.expected_version)
    now = around.clock()
    after = hidden(document, now)
    save_documents(conn, [after])
    delete = _delete_of(space, after, request, around, now)
    insert_operations(conn, [delete])
    record_changes(conn, delete, [Change(document, after)], request, around, now, body.reason)
    _end_candidate(conn, space, after, request, around, now)
    begin_deletes(conn, {document_id}, request.origin(), around, now)
    return Deleting(work=Work(operation=load_operations(conn, {delete.id})[delete.id], space=space, document=after))


def _end_candidate(
    conn: Connection, space: Space, document: Document, request: Request, around: Surroundings, now: datetime
) -> None:
    """What runs on the document is cancelled; what has failed on it cannot be retried any more."""
    candidate = candidate_of(conn, document)
    if candidate is None:
        return
    operation = load_operations(conn, {candidate.operation_id}, lock=Lock.UPDATE)[candidate.operation_id]
    if operation.is_over:
        save_operations(conn, [operation.not_retryable(now)])
    else:
        work = Work(operation=operation, space=space, document=document, version=candidate)
        stop_work(conn, work, request, around, now)


def _delete_of(space: Space, document: Document, request: Request, around: Surroundings, now: datetime) -> Operation:
    return replace(
        new_operation(OperationType.DOCUMENT_DELETE, space, None, request, around, now),
        resource_type=ResourceType.DOCUMENT,
        resource_id=document.id,
        document_id=document.id,
    )
