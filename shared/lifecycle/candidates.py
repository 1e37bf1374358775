"""What a new version begins with: an open space, a file that its uploader owns, a place in the document."""

from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.commands import SourceFile
from shared.contracts.enums import Action, ChangeType, VersionStatus
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import DocumentId, FileId, FileResourceId, OperationId, SpaceId, VersionId
from shared.database.files import load_resource
from shared.database.listings import visible_space
from shared.database.locking import Lock
from shared.database.spaces import load_spaces
from shared.domain.authorization import reach
from shared.domain.document import Document
from shared.domain.errors import FieldFault, NotFound, SpaceNotFound
from shared.domain.space import Space, require_open
from shared.domain.version import Version
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


class FileNotFound(NotFound):
    """No unexpired file of the caller has this id."""

    code = ErrorCode.FILE_NOT_FOUND
    message = "There is no such file, or it has expired. Upload it again."


def open_space(conn: Connection, space_id: SpaceId, action: Action, request: Request) -> Space:
    """The space, locked against deletion, when the caller may do `action` in it and it takes mutations."""
    if visible_space(conn, reach(request.caller, action, request.roles), space_id) is None:
        raise SpaceNotFound
    return held_open(conn, space_id)


def held_open(conn: Connection, space_id: SpaceId) -> Space:
    """The space, locked against deletion, when it takes mutations; who may ask is settled already."""
    space = load_spaces(conn, {space_id}, lock=Lock.SHARE)[space_id]
    require_open(space)
    return space


def owned_file(
    conn: Connection, resource_id: FileResourceId, request: Request, now: datetime
) -> tuple[FileId, SourceFile]:
    """The stored file behind a resource that the caller uploaded, locked against being purged."""
    found = load_resource(conn, request.caller.tenant, request.caller.subject, resource_id, now)
    if found is None:
        fault = FieldFault("$.fileResourceId", "NOT_FOUND", FileNotFound.message)
        raise FileNotFound(faults=(fault,))
    resource, file = found
    source = SourceFile(
        object_key=file.object_key,
        size=file.size,
        sha256=file.sha256,
        content_type=resource.content_type,
        file_name=resource.file_name,
    )
    return file.id, source


def new_version(
    *,
    document_id: DocumentId,
    space: Space,
    number: int,
    change: ChangeType,
    file: tuple[FileId, SourceFile],
    around: Surroundings,
    now: datetime,
) -> Version:
    """A version that nothing has been done for, with the id of the operation that will."""
    file_id, source = file
    return Version(
        id=VersionId(around.new_id("ver")),
        tenant_id=space.tenant_id,
        space_id=space.id,
        document_id=document_id,
        operation_id=OperationId(around.new_id("op")),
        number=number,
        change_type=change,
        status=VersionStatus.CREATED,
        file_id=file_id,
        source=source,
        created_at=now,
        updated_at=now,
    )


def next_number(document: Document) -> int:
    """The number of the document's next version."""
    return document.last_version_number + 1
