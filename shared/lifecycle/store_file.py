"""Registers an uploaded file: one live file per tenant and content, one resource per upload.

Two uploads of the same bytes at once are one file: the second to commit adopts what the first has stored.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.files import FILE_UPLOAD, MOST_DOCUMENTS
from shared.contracts.ids import DocumentId, FileId, FileResourceId
from shared.database.files import (
    FileResource,
    StoredFile,
    adopt_or_insert_file,
    documents_of_file,
    insert_resource,
    load_resource,
)
from shared.database.locking import Lock
from shared.domain.authorization import reach, require_action
from shared.domain.errors import Forbidden
from shared.files.intake import ReceivedFile
from shared.lifecycle.candidates import FileNotFound
from shared.lifecycle.recording import Detail
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResource:
    """The resource, its file, and the documents with the same content that the caller may see."""

    resource: FileResource
    file: StoredFile
    documents: tuple[DocumentId, ...] = ()

    @property
    def is_twin(self) -> bool:
        """Whether the content was there already."""
        return self.resource.is_twin


def store_file(
    conn: Connection, received: ReceivedFile, kept: timedelta, request: Request, around: Surroundings
) -> StoredResource:
    """Make a resource of an uploaded file. When `is_twin`, the caller drops the object it has just stored."""
    caller = request.caller
    require_action(caller, Action.DOCUMENT_UPLOAD, request.roles)
    now = around.clock()
    mine = StoredFile(
        id=FileId(around.new_id("fil")),
        tenant_id=caller.tenant,
        sha256=received.sha256,
        size=received.size,
        object_key=received.key,
        created_at=now,
    )
    file = adopt_or_insert_file(conn, mine)
    resource = FileResource(
        id=FileResourceId(around.new_id("frs")),
        tenant_id=caller.tenant,
        subject=caller.subject,
        file_id=file.id,
        file_name=received.name,
        content_type=received.content_type.value,
        is_twin=file.id != mine.id,
        created_at=now,
        expires_at=now + kept,
    )
    insert_resource(conn, resource)
    details: dict[str, Detail] = {"bytes": file.size, "sha256": file.sha256}
    record_told(conn, Told(action=FILE_UPLOAD.tool, resource_id=resource.id, details=details), request, around, now)
    # A file that has just been made is in no document.
    documents = _documents(conn, file, request) if resource.is_twin else ()
    return StoredResource(resource=resource, file=file, documents=documents)


def find_resource(conn: Connection, resource_id: FileResourceId, request: Request, now: datetime) -> StoredResource:
    """A file that the caller has uploaded and that has not expired; FileNotFound for every other one."""
    caller = request.caller
    require_action(caller, Action.DOCUMENT_UPLOAD, request.roles)
    found = load_resource(conn, caller.tenant, caller.subject, resource_id, now, lock=Lock.NONE)
    if found is None:
        raise FileNotFound
    resource, file = found
    return StoredResource(resource=resource, file=file, documents=_documents(conn, file, request))


def _documents(conn: Connection, file: StoredFile, request: Request) -> tuple[DocumentId, ...]:
    try:
        reached = reach(request.caller, Action.DOCUMENT_VIEW, request.roles)
    except Forbidden:
        return ()
    return documents_of_file(conn, reached, file.id, limit=MOST_DOCUMENTS)
