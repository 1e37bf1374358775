"""Puts a new version into a document's candidate slot: one change of a document at a time."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import Action, OperationType, PurgeReason
from shared.contracts.ids import DocumentId
from shared.database.documents import save_documents
from shared.database.locking import Lock
from shared.database.operations import load_operations, save_operations
from shared.database.purges import insert_purges
from shared.database.versions import insert_versions, load_versions
from shared.domain.document import Document, accept_replacement, require_current, require_free_slot
from shared.domain.outcomes import purge_of
from shared.domain.space import Space
from shared.domain.version import Version
from shared.domain.work import Work
from shared.lifecycle.acceptance import Accepted, Change, accept, new_operation
from shared.lifecycle.changeable import changeable_document
from shared.lifecycle.purges import new_purge
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSlot:
    """A locked document that may take a new version, and the candidate that would give up its slot to it."""

    space: Space
    document: Document
    candidate: Version | None


def open_slot(
    conn: Connection, document_id: DocumentId, expected_version: int, action: Action, request: Request
) -> OpenSlot:
    """The document's candidate slot, unless the document has changed or a candidate is on its way."""
    space, document = changeable_document(conn, document_id, action, request)
    require_current(document, expected_version)
    candidate = candidate_of(conn, document)
    require_free_slot(document, candidate)
    return OpenSlot(space=space, document=document, candidate=candidate)


def take_slot(
    conn: Connection,
    slot: OpenSlot,
    version: Version,
    kind: OperationType,
    request: Request,
    around: Surroundings,
    now: datetime,
    *,
    reason: str | None,
) -> Accepted:
    """Accept the version as the document's candidate, with the operation that works on it."""
    after = accept_replacement(slot.document, slot.candidate, version, now)
    if slot.candidate is not None:
        _supersede(conn, slot.space, slot.candidate, around, now)
    insert_versions(conn, [version])
    save_documents(conn, [after])
    operation = new_operation(kind, slot.space, version, request, around, now)
    work = Work(operation=operation, space=slot.space, document=after, version=version)
    changes = [Change(slot.document, after), Change(None, version)]
    return accept(conn, work, changes, request, around, now, reason=reason)


def candidate_of(conn: Connection, document: Document) -> Version | None:
    """The version in the candidate slot; the document's lock protects it."""
    return _version(conn, document.candidate_version_id)


def active_of(conn: Connection, document: Document) -> Version | None:
    """The version that the document serves; the document's lock protects it."""
    return _version(conn, document.active_version_id)


def _version(conn: Connection, version_id: str | None) -> Version | None:
    return None if version_id is None else load_versions(conn, {version_id})[version_id]


def _supersede(conn: Connection, space: Space, version: Version, around: Surroundings, now: datetime) -> None:
    """A candidate that failed or was cancelled loses its slot: it is purged and cannot be retried any more."""
    operation = load_operations(conn, {version.operation_id}, lock=Lock.UPDATE)[version.operation_id]
    save_operations(conn, [operation.not_retryable(now)])
    work = Work(operation=operation, space=space, version=version)
    insert_purges(conn, [new_purge(work, purge_of(version, PurgeReason.SUPERSEDED, now), around, now)])
