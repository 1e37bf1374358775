"""Registers an uploaded file: one live file per tenant and content, one resource per upload."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import FileId, FileResourceId
from shared.database.files import FileResource, StoredFile, adopt_or_insert_file, insert_resource
from shared.domain.authorization import reach
from shared.files.intake import ReceivedFile
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResource:
    """The resource, and whether its content was there already under another object that is kept instead."""

    resource: FileResource
    file: StoredFile
    is_twin: bool


def store_file(
    conn: Connection, received: ReceivedFile, kept: timedelta, request: Request, around: Surroundings
) -> StoredResource:
    """Make a resource of an uploaded file. When `is_twin`, the caller drops the object it has just stored."""
    caller = request.caller
    reach(caller, Action.DOCUMENT_UPLOAD, request.roles)
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
        created_at=now,
        expires_at=now + kept,
    )
    insert_resource(conn, resource)
    return StoredResource(resource=resource, file=file, is_twin=file.id != mine.id)
