"""A resumable upload from its beginning to the file resource it becomes, or to its end without one.

Every move may come twice or at once with another: parts are added by compare-and-set on what has arrived, an upload
that is whole becomes a file once, and one that is over takes nothing more.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import UploadId
from shared.contracts.uploads import UPLOAD_BEGIN, UPLOAD_END
from shared.database.locking import Lock
from shared.database.uploads import (
    Upload,
    UploadPart,
    add_parts,
    complete_upload,
    end_upload_now,
    insert_upload,
    load_upload,
)
from shared.domain.authorization import require_action
from shared.domain.errors import Conflict, NotFound
from shared.files.intake import ReceivedFile
from shared.lifecycle.request import Request
from shared.lifecycle.store_file import StoredResource, find_resource, store_file
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told


class UploadNotFound(NotFound):
    """No upload of the caller has this id, or it is over."""

    message = "There is no such upload, or it has expired. Begin a new one."


class OffsetMoved(Conflict):
    """The upload has received more, or less, than the request says."""

    message = "The upload is not at this offset. Ask for its offset and go on from there."


def begin_upload(
    conn: Connection, file_name: str, length: int, kept: timedelta, request: Request, around: Surroundings
) -> Upload:
    """Begin an upload of a file of `length` bytes, of which nothing has arrived."""
    caller = request.caller
    require_action(caller, Action.DOCUMENT_UPLOAD, request.roles)
    now = around.clock()
    upload = Upload(
        id=UploadId(around.new_id("upl")),
        tenant_id=caller.tenant,
        subject=caller.subject,
        file_name=file_name,
        length=length,
        created_at=now,
        expires_at=now + kept,
    )
    insert_upload(conn, upload)
    told = Told(action=UPLOAD_BEGIN.tool, resource_id=upload.id, details={"bytes": length})
    record_told(conn, told, request, around, now)
    return upload


def own_upload(
    conn: Connection, upload_id: UploadId, request: Request, around: Surroundings, *, lock: Lock = Lock.NONE
) -> Upload:
    """The caller's own upload; UploadNotFound for every other one, and for one that is over."""
    caller = request.caller
    require_action(caller, Action.DOCUMENT_UPLOAD, request.roles)
    upload = load_upload(conn, caller.tenant, caller.subject, upload_id, around.clock(), lock=lock)
    if upload is None:
        raise UploadNotFound
    return upload


def extend_upload(
    conn: Connection, upload: Upload, parts: Sequence[UploadPart], kept: timedelta, around: Surroundings
) -> datetime:
    """Add stored parts that follow what `upload` had received; when it expires now.

    OffsetMoved when somebody else was faster.
    """
    now = around.clock()
    if not add_parts(conn, upload, parts, now=now, expires_at=now + kept):
        raise OffsetMoved
    return now + kept


def finish_upload(
    conn: Connection,
    upload_id: UploadId,
    received: ReceivedFile,
    kept: timedelta,
    request: Request,
    around: Surroundings,
) -> StoredResource:
    """Make a resource of an upload that is whole, or give the one that it has become already.

    The caller drops the object it has just stored unless it is the file's.
    """
    upload = own_upload(conn, upload_id, request, around, lock=Lock.UPDATE)
    known = find_result(conn, upload, request, around)
    if known is not None:
        return known
    stored = store_file(conn, received, kept, request, around)
    complete_upload(conn, upload.id, stored.resource.id, expires_at=stored.resource.expires_at)
    return stored


def find_result(conn: Connection, upload: Upload, request: Request, around: Surroundings) -> StoredResource | None:
    """What the upload has become; None while it is no file."""
    known = upload.file_resource_id
    return None if known is None else find_resource(conn, known, request, around.clock())


def refuse_upload(
    conn: Connection, upload_id: UploadId, request: Request, around: Surroundings
) -> StoredResource | None:
    """End an upload whose content cannot be taken. One that is a file already goes on, and that file is given."""
    upload = own_upload(conn, upload_id, request, around, lock=Lock.UPDATE)
    known = find_result(conn, upload, request, around)
    if known is None:
        _end(conn, upload, request, around)
    return known


def end_upload(conn: Connection, upload_id: UploadId, request: Request, around: Surroundings) -> None:
    """End the caller's upload, whole or not. A file resource that it has become stays."""
    _end(conn, own_upload(conn, upload_id, request, around, lock=Lock.UPDATE), request, around)


def _end(conn: Connection, upload: Upload, request: Request, around: Surroundings) -> None:
    now = around.clock()
    end_upload_now(conn, upload.id, now)
    told = Told(action=UPLOAD_END.tool, resource_id=upload.id, details={"received": upload.received})
    record_told(conn, told, request, around, now)
