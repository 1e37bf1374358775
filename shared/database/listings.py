"""What callers may see: lists with their totals and single reads, authorised in the same statement that reads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection

from shared.contracts.enums import OperationStatus
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.database.documents import DOCUMENT_CODEC
from shared.database.joined import Part
from shared.database.operations import OPERATION_CODEC
from shared.database.predicate import (
    DOCUMENT_VISIBLE,
    NOT_HIDDEN,
    SINGLE_DOCUMENT_VISIBLE,
    SPACE_VISIBLE,
    reach_parameters,
)
from shared.database.spaces import SPACE_CODEC
from shared.database.sql import Parameter, run
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import DocumentRow, OperationRow, SpaceRow, VersionRow
from shared.database.versions import VERSION_CODEC
from shared.domain.authorization import Reach
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.space import Space
from shared.domain.version import Version

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    """A document as lists show it, with the version that it serves."""

    document: Document
    active: Version | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document in full: both slots, and how the operations of their versions stand, all of one moment."""

    document: Document
    active: Version | None
    active_operation: OperationStatus | None
    candidate: Version | None
    candidate_operation: OperationStatus | None


_SPACE = Part(table_of(SpaceRow), SPACE_CODEC)
_OPERATION = Part(table_of(OperationRow), OPERATION_CODEC)
_DOCUMENT = Part(table_of(DocumentRow), DOCUMENT_CODEC)
_ACTIVE = Part(table_of(VersionRow), VERSION_CODEC, "active", after=_DOCUMENT)
_CANDIDATE = Part(table_of(VersionRow), VERSION_CODEC, "candidate", after=_ACTIVE)

_SPACES = f"FROM space WHERE {SPACE_VISIBLE} AND space.status <> 'DELETED'"
# SQLite joins a CROSS JOIN in the order in which it is written: from the one thing asked for to its space,
# never from all spaces of the tenant.
_DOCUMENTS = f"""FROM document CROSS JOIN space
    WHERE space.id = document.space_id AND {NOT_HIDDEN} AND {DOCUMENT_VISIBLE}"""
_OPERATIONS = f"""FROM operation CROSS JOIN space
    LEFT JOIN document ON document.id = operation.document_id
    WHERE space.id = operation.space_id AND {DOCUMENT_VISIBLE}"""


_AFTER = " AND ({table}.created_at, {table}.id) > (SELECT created_at, id FROM {table} AS last WHERE last.id = :after)"
"""What comes after a row in the order of creation; the row may be deleted by now, but is still there."""


def list_spaces(
    conn: Connection, reach: Reach, *, page: int, page_size: int, after: SpaceId | None = None
) -> tuple[list[Space], int]:
    """One page of the spaces that are not DELETED, oldest first, and how many there are in all.

    With `after`, the list is what was created after that space.
    """
    columns = _SPACE.columns(conn.dialect.name)
    chosen = _SPACES + (_AFTER.format(table="space") if after is not None else "")
    text = f"""
        SELECT page.*, total.number FROM (SELECT count(*) AS number {chosen}) AS total
        LEFT JOIN (
            SELECT {columns} {chosen} ORDER BY space.created_at, space.id LIMIT :size OFFSET :skip
        ) AS page ON true
        ORDER BY page.created_at, page.id
    """  # noqa: S608 - names of ours only
    rows = run(conn, text, after=after, **reach_parameters(reach), **_page(page, page_size)).all()
    return _present(_SPACE, rows), int(rows[0][-1])


def list_documents(
    conn: Connection, reach: Reach, space_id: SpaceId, *, page: int, page_size: int, after: DocumentId | None = None
) -> tuple[list[ListedDocument], int]:
    """One page of a space's documents that are not hidden, oldest first, and how many there are in all.

    With `after`, the list is what was created after that document.
    """
    is_whole = visible_space(conn, reach, space_id) is not None
    text = _documents_text(conn.dialect.name, is_whole, after is not None)
    rows = run(conn, text, space=space_id, after=after, **reach_parameters(reach), **_page(page, page_size)).all()
    found = zip(_DOCUMENT.read(rows), _ACTIVE.read(rows), strict=True)
    items = [ListedDocument(document=document, active=active) for document, active in found if document is not None]
    return items, int(rows[0][-1])


@cache
def _documents_text(dialect: str, is_whole: bool, is_after: bool) -> str:
    """The keys of all are counted and cut to the page; only the page's own rows are read whole.

    A space that is granted whole is authorised once, and not once more for each document in it.
    """
    visible = "space.tenant_id = :tenant" if is_whole else SINGLE_DOCUMENT_VISIBLE
    chosen = f"""FROM document CROSS JOIN space
        WHERE space.id = document.space_id AND document.space_id = :space AND {NOT_HIDDEN} AND {visible}"""
    if is_after:
        chosen += _AFTER.format(table="document")
    return f"""
        SELECT {_DOCUMENT.columns(dialect)}, {_ACTIVE.columns(dialect)}, total.number
        FROM (SELECT count(*) AS number {chosen}) AS total
        LEFT JOIN (
            SELECT document.id {chosen} ORDER BY document.created_at, document.id LIMIT :size OFFSET :skip
        ) AS page ON true
        LEFT JOIN document ON document.id = page.id
        LEFT JOIN document_version AS active ON active.id = document.active_version_id
        ORDER BY document.created_at, document.id
    """  # noqa: S608 - names of ours only


def list_operations(
    conn: Connection, reach: Reach, *, statuses: Collection[OperationStatus], page: int, page_size: int
) -> tuple[list[Operation], int]:
    """One page of the operations on what the caller may see, in any of the statuses, newest first, and their number."""
    chosen = f"{_OPERATIONS} AND operation.tenant_id = :tenant AND operation.status AMONG :statuses"
    text = f"""
        SELECT page.*, total.number FROM (SELECT count(*) AS number {chosen}) AS total
        LEFT JOIN (
            SELECT {_OPERATION.columns(conn.dialect.name)} {chosen}
            ORDER BY operation.created_at DESC, operation.id DESC LIMIT :size OFFSET :skip
        ) AS page ON true
        ORDER BY page.created_at DESC, page.id DESC
    """  # noqa: S608 - names of ours only
    wanted = [status.value for status in statuses]
    rows = run(conn, text, statuses=wanted, **reach_parameters(reach), **_page(page, page_size)).all()
    return _present(_OPERATION, rows), int(rows[0][-1])


def visible_spaces(conn: Connection, reach: Reach, space_ids: Collection[str]) -> dict[str, Space]:
    """Those of the spaces that the caller may see, by id."""
    text = f"SELECT {_SPACE.columns(conn.dialect.name)} {_SPACES} AND space.id AMONG :ids"
    rows = run(conn, text, ids=space_ids, **reach_parameters(reach)).all()
    return {space.id: space for space in _present(_SPACE, rows)}


def visible_space(conn: Connection, reach: Reach, space_id: SpaceId) -> Space | None:
    """The space, unless it is absent, foreign, DELETED or not granted to the caller."""
    return visible_spaces(conn, reach, (space_id,)).get(space_id)


def visible_documents(conn: Connection, reach: Reach, document_ids: Collection[str]) -> dict[str, Document]:
    """Those of the documents that the caller may see, by id."""
    columns = _DOCUMENT.columns(conn.dialect.name)
    text = f"SELECT {columns} {_DOCUMENTS} AND document.id AMONG :ids"
    rows = run(conn, text, ids=document_ids, **reach_parameters(reach)).all()
    return {document.id: document for document in _present(_DOCUMENT, rows)}


def visible_document(conn: Connection, reach: Reach, document_id: DocumentId) -> Document | None:
    """The document, unless it is absent, foreign, hidden or not granted to the caller."""
    return visible_documents(conn, reach, (document_id,)).get(document_id)


def view_document(conn: Connection, reach: Reach, document_id: DocumentId) -> DocumentView | None:
    """The document in full, unless it is absent, foreign, hidden or not granted to the caller."""
    dialect = conn.dialect.name
    text = f"""
        SELECT {_DOCUMENT.columns(dialect)}, {_ACTIVE.columns(dialect)}, {_CANDIDATE.columns(dialect)},
            (SELECT status FROM operation WHERE operation.id = active.operation_id),
            (SELECT status FROM operation WHERE operation.id = candidate.operation_id)
        FROM document CROSS JOIN space
        LEFT JOIN document_version AS active ON active.id = document.active_version_id
        LEFT JOIN document_version AS candidate ON candidate.id = document.candidate_version_id
        WHERE document.id = :id AND space.id = document.space_id AND {NOT_HIDDEN} AND {DOCUMENT_VISIBLE}
    """  # noqa: S608 - names of ours only
    rows = run(conn, text, id=document_id, **reach_parameters(reach)).all()
    if not rows:
        return None
    (document,), (active,), (candidate,) = _present(_DOCUMENT, rows), _ACTIVE.read(rows), _CANDIDATE.read(rows)
    active_status, candidate_status = (None if cell is None else OperationStatus(cell) for cell in rows[0][-2:])
    return DocumentView(
        document=document,
        active=active,
        active_operation=active_status,
        candidate=candidate,
        candidate_operation=candidate_status,
    )


def visible_operation(conn: Connection, reach: Reach, operation_id: OperationId) -> Operation | None:
    """The operation, when the caller may see what it is about; that may be DELETED by now."""
    columns = _OPERATION.columns(conn.dialect.name)
    text = f"SELECT {columns} {_OPERATIONS} AND operation.id = :id"
    rows = run(conn, text, id=operation_id, **reach_parameters(reach)).all()
    return next(iter(_present(_OPERATION, rows)), None)


def _page(page: int, page_size: int) -> dict[str, Parameter]:
    return {"size": page_size, "skip": (page - 1) * page_size}


def _present(part: Part[T], rows: Sequence[Sequence[Any]]) -> list[T]:
    return [value for value in part.read(rows) if value is not None]
