"""Versions of documents as rows."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from shared.contracts.commands import SourceFile
from shared.database.codec import Composed, RowCodec
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import VersionRow
from shared.domain.version import Version

_TABLE = table_of(VersionRow)


def _read_source(object_key: str, size: int, sha256: str, content_type: str, file_name: str) -> SourceFile:
    return SourceFile(object_key=object_key, size=size, sha256=sha256, content_type=content_type, file_name=file_name)


def _write_source(source: SourceFile) -> tuple[str, int, str, str, str]:
    return source.object_key, source.size, source.sha256, source.content_type, source.file_name


VERSION_CODEC = RowCodec(
    _TABLE,
    Version,
    {
        "source": Composed(
            ("object_key", "file_size", "sha256", "content_type", "file_name"), _read_source, _write_source
        ),
    },
)
_ROWS = TableRows(_TABLE, VERSION_CODEC.columns)
_CHANGING = (
    "operation_id",
    "status",
    "native_document_id",
    "chunk_count",
    "progress_percent",
    "progress_updated_at",
    "failure_reason",
    "failure_text",
    "is_retryable",
    "failed_step",
    "updated_at",
    "processing_started_at",
    "ready_at",
    "activated_at",
    "failed_at",
    "cancelled_at",
)


def load_versions(conn: Connection, ids: Collection[str], *, lock: Lock = Lock.NONE) -> dict[str, Version]:
    """The versions with these ids, by id; ids that name none are left out."""
    return {version.id: version for version in VERSION_CODEC.read(_ROWS.by_key(conn, ids, lock))}


def lock_remaining_versions(conn: Connection, document_ids: Collection[str]) -> list[Version]:
    """The versions of these documents that are not DELETED, locked."""
    condition = "document_id AMONG :documents AND status <> 'DELETED'"
    return VERSION_CODEC.read(_ROWS.where(conn, condition, lock=Lock.UPDATE, documents=document_ids))


def insert_versions(conn: Connection, versions: Sequence[Version]) -> None:
    """Store new versions. UniqueViolation("version_number_once") when the document has such a number already."""
    _ROWS.insert(conn, VERSION_CODEC.write(versions))


def save_versions(conn: Connection, versions: Sequence[Version]) -> None:
    """Store what may change of versions that are there."""
    _ROWS.update(conn, _CHANGING, VERSION_CODEC.write(versions, (*_CHANGING, "id")))
