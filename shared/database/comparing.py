"""What is read to compare our rows with what provider and object store hold: piece by piece, of a tenant or of all."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.contracts.ids import DocumentId, SpaceId, TenantId, VersionId
from shared.database.files import FILE_CODEC, StoredFile
from shared.database.rows import TableRows
from shared.database.spaces import SPACE_CODEC
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.knowledge import UNFINISHED, SpaceRow
from shared.domain.space import Space

_SPACES = TableRows(table_of(SpaceRow), SPACE_CODEC.columns)
_LOOKED_AT: Final = "status IN ('ACTIVE', 'DISABLED') AND native_id IS NOT NULL AND id > :after"

_SERVED = """
SELECT document.created_at, document.id, document.active_version_id FROM document
WHERE document.space_id = :space AND document.status IN ('ACTIVE', 'DISABLED')
    AND document.active_version_id IS NOT NULL AND (document.created_at, document.id) > (:after, :last)
ORDER BY document.created_at, document.id LIMIT :limit
"""
_BUSY = f"SELECT DISTINCT document_id FROM operation WHERE document_id AMONG :documents AND {UNFINISHED}"  # noqa: S608 - a constant
_OUT = """
SELECT DISTINCT operation.version_id FROM operation JOIN outbox ON outbox.owner_id = operation.id
WHERE operation.document_id AMONG :documents AND operation.version_id AMONG :versions
"""
_LIVE_FILES = """
SELECT {columns}, EXISTS (
    SELECT 1 FROM document_version WHERE document_version.file_id = file.id AND document_version.status <> 'DELETED'
) OR EXISTS (SELECT 1 FROM file_resource WHERE file_resource.file_id = file.id)
FROM file WHERE status = 'LIVE' AND created_at <= :before AND id > :after{whose} ORDER BY id LIMIT :limit
"""


class ServedVersion(NamedTuple):
    """A version that a document serves, or will when it is enabled again, with the document's place in the order."""

    created: int
    """Microseconds since 1970."""
    document_id: DocumentId
    version_id: VersionId


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFile:
    """A LIVE file, and whether a version or a resource names it. An expired resource is swept away by itself."""

    file: StoredFile
    is_named: bool


def spaces_to_compare(conn: Connection, tenant_id: TenantId | None, after: str, *, limit: int) -> list[Space]:
    """Up to `limit` spaces whose provider side is there to stay, in the order of their ids behind `after`."""
    condition = _LOOKED_AT + _whose(tenant_id)
    rows = _SPACES.where(conn, condition, order=("id",), limit=limit, after=after, tenant=tenant_id)
    return SPACE_CODEC.read(rows)


def served_versions(
    conn: Connection, space_id: SpaceId, after: ServedVersion | None, *, limit: int
) -> list[ServedVersion]:
    """Up to `limit` active versions of the space's ACTIVE and DISABLED documents, oldest document first."""
    created, last = (-1, "") if after is None else (after.created, after.document_id)
    rows = run(conn, _SERVED, space=space_id, after=created, last=last, limit=limit).all()
    return [ServedVersion(*row) for row in rows]


def busy_documents(conn: Connection, document_ids: Collection[str]) -> set[str]:
    """Those of these documents on which an operation has not ended."""
    return {str(row[0]) for row in run(conn, _BUSY, documents=document_ids)}


def unanswered_versions(conn: Connection, document_ids: Collection[str], version_ids: Collection[str]) -> set[str]:
    """Those of these documents' versions of which a command is not answered, whatever became of its operation."""
    return {str(row[0]) for row in run(conn, _OUT, documents=document_ids, versions=version_ids)}


def live_files(
    conn: Connection, tenant_id: TenantId | None, before: datetime, after: str, *, limit: int
) -> list[LiveFile]:
    """Up to `limit` LIVE files made until `before`, in the order of their ids behind `after`."""
    text = _LIVE_FILES.format(columns=", ".join(FILE_CODEC.columns), whose=_whose(tenant_id))
    rows = run(conn, text, before=to_microseconds(before), after=after, limit=limit, tenant=tenant_id).all()
    files = FILE_CODEC.read([row[:-1] for row in rows])
    return [LiveFile(file=file, is_named=bool(row[-1])) for file, row in zip(files, rows, strict=True)]


def known_keys(conn: Connection, object_keys: Sequence[str]) -> set[str]:
    """Those of these keys that a file, in whatever status, or a part of an upload names."""
    of_files = _named(conn, "file", object_keys)
    return of_files | _named(conn, "upload_part", [key for key in object_keys if key not in of_files])


def _named(conn: Connection, table: str, object_keys: Sequence[str]) -> set[str]:
    if not object_keys:
        return set()
    text = f"SELECT object_key FROM {table} WHERE object_key AMONG :keys"  # noqa: S608 - names of ours only
    return {str(row[0]) for row in run(conn, text, keys=object_keys)}


def _whose(tenant_id: TenantId | None) -> str:
    """What narrows a condition to a tenant, unless it is of all."""
    return "" if tenant_id is None else " AND tenant_id = :tenant"
