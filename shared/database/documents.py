"""Documents as rows, with their tags once more as rows of their own."""

from collections.abc import Collection, Sequence

import orjson
from sqlalchemy import Connection

from shared.contracts.enums import DocumentStatus
from shared.contracts.ids import SpaceId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.database.codec import Composed, RowCodec
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import DocumentRow, DocumentTagRow
from shared.domain.document import Document

_TABLE = table_of(DocumentRow)


def read_metadata(
    category: str | None, tags: str, version_label: str | None, product_code: str | None
) -> DocumentMetadataOutput:
    """The metadata that a document's columns hold; they were checked when they were written."""
    return DocumentMetadataOutput.model_construct(
        category=category,
        tags=tuple(orjson.loads(tags)),
        version_label=version_label,
        product_code=product_code,
    )


def _write_metadata(metadata: DocumentMetadataOutput) -> tuple[str | None, str, str | None, str | None]:
    tags = orjson.dumps(metadata.tags).decode()
    return metadata.category, tags, metadata.version_label, metadata.product_code


METADATA_COLUMNS = ("category", "tags", "version_label", "product_code")

DOCUMENT_CODEC = RowCodec(_TABLE, Document, {"metadata": Composed(METADATA_COLUMNS, read_metadata, _write_metadata)})
_ROWS = TableRows(_TABLE, DOCUMENT_CODEC.columns)
_TAGS = TableRows(table_of(DocumentTagRow), ("document_id", "tag"), key=("document_id", "tag"))
_CHANGING = (
    "name",
    "status",
    *METADATA_COLUMNS,
    "lock_version",
    "active_version_id",
    "candidate_version_id",
    "last_version_number",
    "updated_at",
)


def load_documents(conn: Connection, ids: Collection[str], *, lock: Lock = Lock.NONE) -> dict[str, Document]:
    """The documents with these ids, by id; ids that name none are left out."""
    return {document.id: document for document in DOCUMENT_CODEC.read(_ROWS.by_key(conn, ids, lock))}


def insert_documents(conn: Connection, documents: Sequence[Document]) -> None:
    """Store new documents with their tags."""
    _ROWS.insert(conn, DOCUMENT_CODEC.write(documents))
    _insert_tags(conn, documents)


def save_documents(conn: Connection, documents: Sequence[Document], *, tags_changed: Collection[str] = ()) -> None:
    """Store what may change of documents that are there; tags are rewritten for the ids in `tags_changed`."""
    _ROWS.update(conn, _CHANGING, DOCUMENT_CODEC.write(documents, (*_CHANGING, "id")))
    if tags_changed:
        run(conn, "DELETE FROM document_tag WHERE document_id AMONG :ids", ids=tags_changed)
        _insert_tags(conn, [document for document in documents if document.id in tags_changed])


def holds_documents(conn: Connection, space_id: SpaceId, statuses: Collection[DocumentStatus]) -> bool:
    """Whether a document of the space is in one of these statuses."""
    text = "SELECT 1 FROM document WHERE space_id = :space AND status AMONG :statuses LIMIT 1"
    wanted = [status.value for status in statuses]
    return run(conn, text, space=space_id, statuses=wanted).first() is not None


def _insert_tags(conn: Connection, documents: Sequence[Document]) -> None:
    pairs = [(document.id, tag) for document in documents for tag in document.metadata.tags]
    _TAGS.insert(conn, list(zip(*pairs, strict=True)))
