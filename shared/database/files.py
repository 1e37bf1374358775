"""Stored files and the resources by which their uploaders name them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.ids import DocumentId, FileId, FileResourceId, SubjectId, TenantId
from shared.database.codec import RowCodec
from shared.database.joined import Part
from shared.database.locking import LOCK_CLAUSE, Lock
from shared.database.predicate import DOCUMENT_VISIBLE, NOT_HIDDEN, reach_parameters
from shared.database.rows import TableRows
from shared.database.settings import SQLITE
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.files import FileResourceRow, FileRow, FileStatus
from shared.domain.authorization import Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One object in the object store. Of equal bytes a tenant has one LIVE file."""

    id: FileId
    tenant_id: TenantId
    sha256: str
    size: int
    """Bytes."""
    object_key: str
    status: FileStatus = FileStatus.LIVE
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResource:
    """A file as its uploader names it; it keeps the file until it expires."""

    id: FileResourceId
    tenant_id: TenantId
    subject: SubjectId
    file_id: FileId
    file_name: str
    content_type: str
    is_twin: bool = False
    """The same content was there when it was uploaded."""
    created_at: datetime
    expires_at: datetime


FILE_CODEC = RowCodec(table_of(FileRow), StoredFile)
_FILES = TableRows(table_of(FileRow), FILE_CODEC.columns)
_RESOURCE_CODEC = RowCodec(table_of(FileResourceRow), FileResource)
_RESOURCES = TableRows(table_of(FileResourceRow), _RESOURCE_CODEC.columns)
_RESOURCE = Part(table_of(FileResourceRow), _RESOURCE_CODEC)
_FILE = Part(table_of(FileRow), FILE_CODEC, after=_RESOURCE)

_FREE = """
UPDATE file SET status = 'PURGING'
WHERE id AMONG :ids AND status = 'LIVE'
    AND NOT EXISTS (
        SELECT 1 FROM document_version WHERE document_version.file_id = file.id AND document_version.status <> 'DELETED'
    )
    AND NOT EXISTS (SELECT 1 FROM file_resource WHERE file_resource.file_id = file.id AND expires_at > :now)
"""


# SQLite joins a CROSS JOIN in the order in which it is written: from the few versions of one file outwards.
_DOCUMENTS = f"""
SELECT DISTINCT document.id, document.created_at
FROM document_version AS version CROSS JOIN document CROSS JOIN space
WHERE version.file_id = :file AND document.id = version.document_id
    AND version.id IN (document.active_version_id, document.candidate_version_id)
    AND space.id = document.space_id AND {NOT_HIDDEN} AND {DOCUMENT_VISIBLE}
ORDER BY document.created_at, document.id LIMIT :most
"""  # noqa: S608 - names of ours only


def adopt_or_insert_file(conn: Connection, file: StoredFile) -> StoredFile:
    """The tenant's LIVE file with these bytes, locked against being purged: an older twin, or `file` itself."""
    condition = "tenant_id = :tenant AND sha256 = :sha256 AND status = 'LIVE'"
    while True:  # a twin found by the insert may be on its way out before it can be locked
        _FILES.insert_missing(conn, FILE_CODEC.write([file]))
        rows = _FILES.where(conn, condition, lock=Lock.SHARE, tenant=file.tenant_id, sha256=file.sha256)
        if rows:
            return FILE_CODEC.read(rows)[0]


def load_files(conn: Connection, ids: Collection[str], *, lock: Lock = Lock.NONE) -> dict[str, StoredFile]:
    """The files with these ids, by id; ids that name none are left out."""
    return {file.id: file for file in FILE_CODEC.read(_FILES.by_key(conn, ids, lock))}


def mark_purging(conn: Connection, file_ids: Collection[str], now: datetime) -> list[StoredFile]:
    """Mark as PURGING, and return, those that no version but DELETED ones and no unexpired resource names.

    They are locked first: whoever is about to name one has either done so before, or finds it PURGING.
    """
    live = [file.id for file in load_files(conn, file_ids, lock=Lock.UPDATE).values() if file.status is FileStatus.LIVE]
    if not live:
        return []
    run(conn, _FREE, ids=live, now=to_microseconds(now))
    return [file for file in load_files(conn, live).values() if file.status is FileStatus.PURGING]


def insert_purging(conn: Connection, file: StoredFile) -> bool:
    """Take an object that no row names as a PURGING file, so that it is deleted as one; False when one names it."""
    if run(conn, "SELECT 1 FROM upload_part WHERE object_key = :key LIMIT 1", key=file.object_key).first() is not None:
        return False
    _FILES.insert_missing(conn, FILE_CODEC.write([file]))
    return bool(load_files(conn, {file.id}))


def delete_files(conn: Connection, file_ids: Collection[str]) -> None:
    """Remove the rows of PURGING files whose objects are gone, with their expired resources."""
    if not file_ids:
        return
    purging = "SELECT id FROM file WHERE id AMONG :ids AND status = 'PURGING'"
    run(conn, f"DELETE FROM file_resource WHERE file_id IN ({purging})", ids=file_ids)  # noqa: S608 - a constant
    run(conn, "DELETE FROM file WHERE id AMONG :ids AND status = 'PURGING'", ids=file_ids)


def insert_resource(conn: Connection, resource: FileResource) -> None:
    """Store a new resource of a file that this transaction holds by `adopt_or_insert_file`."""
    _RESOURCES.insert(conn, _RESOURCE_CODEC.write([resource]))


def load_resource(
    conn: Connection,
    tenant_id: TenantId,
    subject: SubjectId,
    resource_id: FileResourceId,
    now: datetime,
    *,
    lock: Lock = Lock.SHARE,
) -> tuple[FileResource, StoredFile] | None:
    """The subject's own, unexpired resource with its file, which is locked against being purged; else None.

    Whoever only shows it takes no lock.
    """
    dialect = conn.dialect.name
    clause = "" if dialect == SQLITE or lock is Lock.NONE else f"{LOCK_CLAUSE[lock]} OF file"
    text = f"""
        SELECT {_RESOURCE.columns(dialect)}, {_FILE.columns(dialect)}
        FROM file_resource JOIN file ON file.id = file_resource.file_id
        WHERE file_resource.id = :id AND file_resource.tenant_id = :tenant AND file_resource.subject = :subject
            AND file_resource.expires_at > :now AND file.status = 'LIVE'{clause}
    """  # noqa: S608 - names of ours only
    now_cell = to_microseconds(now)
    rows = run(conn, text, id=resource_id, tenant=tenant_id, subject=subject, now=now_cell).all()
    for resource, file in zip(_RESOURCE.read(rows), _FILE.read(rows), strict=True):
        if resource is not None and file is not None:
            return resource, file
    return None


def documents_of_file(conn: Connection, reach: Reach, file_id: FileId, *, limit: int) -> tuple[DocumentId, ...]:
    """Up to `limit` documents that the caller may see and whose active or candidate version holds the file's content,
    the oldest first.
    """
    return tuple(row[0] for row in run(conn, _DOCUMENTS, file=file_id, most=limit, **reach_parameters(reach)))


def expired_resources(conn: Connection, now: datetime, *, limit: int) -> list[FileResource]:
    """Up to `limit` resources that have expired, the longest expired first."""
    rows = _RESOURCES.where(
        conn, "expires_at <= :now", order=("expires_at", "id"), limit=limit, now=to_microseconds(now)
    )
    return _RESOURCE_CODEC.read(rows)


def forget_resources(conn: Connection, resource_ids: Collection[str]) -> None:
    """Remove resources; their files stay until nothing names them."""
    if resource_ids:
        run(conn, "DELETE FROM file_resource WHERE id AMONG :ids", ids=resource_ids)
