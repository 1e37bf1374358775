"""Resumable uploads: how much of each has arrived, and in which stored parts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.ids import FileResourceId, SubjectId, TenantId, UploadId
from shared.database.codec import RowCodec
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.files import UploadPartRow, UploadRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One upload; it is over when it has expired, and nothing is added to it from then on."""

    id: UploadId
    tenant_id: TenantId
    subject: SubjectId
    file_name: str
    length: int
    """Bytes of the whole file."""
    received: int = 0
    """Bytes that have arrived and are stored."""
    file_resource_id: FileResourceId | None = None
    """What the upload became, once it was whole."""
    created_at: datetime
    expires_at: datetime

    @property
    def is_whole(self) -> bool:
        """Whether every byte has arrived."""
        return self.received == self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPart:
    """One stored piece of an upload."""

    upload_id: UploadId
    starts_at: int
    """The offset of its first byte in the file."""
    size: int
    object_key: str


_UPLOAD_CODEC = RowCodec(table_of(UploadRow), Upload)
_UPLOADS = TableRows(table_of(UploadRow), _UPLOAD_CODEC.columns)
_PART_CODEC = RowCodec(table_of(UploadPartRow), UploadPart)
_PARTS = TableRows(table_of(UploadPartRow), _PART_CODEC.columns, key=("upload_id", "starts_at"))

_ADVANCE = """
UPDATE upload SET received = :after, expires_at = :expiry
WHERE id = :id AND received = :before AND file_resource_id IS NULL AND expires_at > :now
"""
_OVER = """
SELECT id FROM (
    SELECT id, expires_at FROM upload WHERE expires_at <= :now
    UNION
    SELECT upload.id, upload.expires_at FROM upload_part CROSS JOIN upload
    WHERE upload.id = upload_part.upload_id AND upload.file_resource_id IS NOT NULL
) AS known ORDER BY expires_at, id LIMIT :most
"""


def insert_upload(conn: Connection, upload: Upload) -> None:
    """Store a new upload."""
    _UPLOADS.insert(conn, _UPLOAD_CODEC.write([upload]))


def load_upload(
    conn: Connection,
    tenant_id: TenantId,
    subject: SubjectId,
    upload_id: UploadId,
    now: datetime,
    *,
    lock: Lock = Lock.NONE,
) -> Upload | None:
    """The subject's own upload, unless it has expired."""
    condition = "id = :id AND tenant_id = :tenant AND subject = :subject AND expires_at > :now"
    rows = _UPLOADS.where(
        conn, condition, lock=lock, id=upload_id, tenant=tenant_id, subject=subject, now=to_microseconds(now)
    )
    return next(iter(_UPLOAD_CODEC.read(rows)), None)


def add_parts(
    conn: Connection, upload: Upload, parts: Sequence[UploadPart], *, now: datetime, expires_at: datetime
) -> bool:
    """Add stored parts that follow what `upload` had received; False when it has moved on, or is over."""
    moved = run(
        conn,
        _ADVANCE,
        id=upload.id,
        before=upload.received,
        after=upload.received + sum(part.size for part in parts),
        expiry=to_microseconds(expires_at),
        now=to_microseconds(now),
    )
    if moved.rowcount == 0:
        return False
    _PARTS.insert(conn, _PART_CODEC.write(parts))
    return True


def parts_of(conn: Connection, upload_id: UploadId) -> list[UploadPart]:
    """What is stored of an upload, in the order of the file."""
    return _PART_CODEC.read(_PARTS.where(conn, "upload_id = :id", order=("starts_at",), id=upload_id))


def complete_upload(
    conn: Connection, upload_id: UploadId, resource_id: FileResourceId, *, expires_at: datetime
) -> None:
    """Note what the upload has become; it is known as long as that is."""
    text = "UPDATE upload SET file_resource_id = :resource, expires_at = :expiry WHERE id = :id"
    run(conn, text, id=upload_id, resource=resource_id, expiry=to_microseconds(expires_at))


def end_upload_now(conn: Connection, upload_id: UploadId, now: datetime) -> None:
    """Let the upload be over: nobody sees it any more, and what is stored of it may be removed."""
    text = "UPDATE upload SET expires_at = :now WHERE id = :id AND expires_at > :now"
    run(conn, text, id=upload_id, now=to_microseconds(now))


def uploads_to_clear(conn: Connection, now: datetime, *, limit: int) -> list[UploadId]:
    """Up to `limit` uploads of which something is left that nobody needs: over, or whole with their parts still there.

    The longest expired come first.
    """
    return [UploadId(row[0]) for row in run(conn, _OVER, now=to_microseconds(now), most=limit)]


def forget_parts(conn: Connection, upload_id: UploadId, object_keys: Collection[str]) -> None:
    """Remove the rows of parts whose objects are gone."""
    run(
        conn, "DELETE FROM upload_part WHERE upload_id = :id AND object_key AMONG :keys", id=upload_id, keys=object_keys
    )


def forget_upload(conn: Connection, upload_id: UploadId, now: datetime) -> None:
    """Remove an upload that is over and has no parts left. A part that came at the last moment keeps it for a while."""
    text = """
        DELETE FROM upload WHERE id = :id AND expires_at <= :now
            AND NOT EXISTS (SELECT 1 FROM upload_part WHERE upload_part.upload_id = upload.id)
    """
    run(conn, text, id=upload_id, now=to_microseconds(now))
