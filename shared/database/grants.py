"""Grants: spaces, or single documents of them, given to users, groups and roles."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import PrincipalKind
from shared.contracts.ids import DocumentId, SpaceId, SubjectId, TenantId
from shared.database.codec import Composed, RowCodec
from shared.database.pages import read_page
from shared.database.rows import TableRows
from shared.database.tables.access import GrantRow
from shared.database.tables.columns import table_of
from shared.domain.authorization import Principal

WHOLE_SPACE = ""
"""What stands for "no document" in a key, which holds no null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One principal may act on a space; with a document, on that document alone."""

    tenant_id: TenantId
    space_id: SpaceId
    document_id: DocumentId | None = None
    principal: Principal
    created_by: SubjectId
    created_at: datetime


def _read_document(document_id: str) -> str | None:
    return None if document_id == WHOLE_SPACE else document_id


def _write_document(document_id: DocumentId | None) -> tuple[str]:
    return (WHOLE_SPACE if document_id is None else document_id,)


def _read_principal(kind: str, name: str) -> Principal:
    return Principal(PrincipalKind(kind), name)


def _write_principal(principal: Principal) -> tuple[str, str]:
    return principal.kind.value, principal.name


_KEY = ("space_id", "document_id", "principal_kind", "principal")
_CODEC = RowCodec(
    table_of(GrantRow),
    Grant,
    {
        "document_id": Composed(("document_id",), _read_document, _write_document),
        "principal": Composed(("principal_kind", "principal"), _read_principal, _write_principal),
    },
)
_ROWS = TableRows(table_of(GrantRow), _CODEC.columns, key=_KEY)


def insert_grants(conn: Connection, grants: Sequence[Grant]) -> None:
    """Grant; what is granted already stays as it is."""
    _ROWS.insert_missing(conn, _CODEC.write(grants))


def delete_grants(conn: Connection, grants: Sequence[Grant]) -> None:
    """Take grants back; what is not granted is no error."""
    _ROWS.delete(conn, _CODEC.write(grants, _KEY))


def list_grants(conn: Connection, tenant_id: TenantId, space_id: SpaceId) -> list[Grant]:
    """Every grant on the space and on documents of it, in the order of their keys."""
    rows = _ROWS.where(conn, "space_id = :space AND tenant_id = :tenant", order=_KEY, space=space_id, tenant=tenant_id)
    return _CODEC.read(rows)


def page_of_grants(
    conn: Connection, tenant_id: TenantId, space_id: SpaceId, *, page: int, page_size: int
) -> tuple[list[Grant], int]:
    """One page of the grants on the space and on documents of it, oldest first, and how many there are in all."""
    rows, total = read_page(
        conn,
        table_of(GrantRow),
        _CODEC.columns,
        "space_id = :space AND tenant_id = :tenant",
        order=("created_at", *_KEY),
        page=page,
        page_size=page_size,
        space=space_id,
        tenant=tenant_id,
    )
    return _CODEC.read(rows), total


def find_grant(
    conn: Connection, tenant_id: TenantId, space_id: SpaceId, document_id: DocumentId | None, principal: Principal
) -> Grant | None:
    """The grant of exactly this to exactly this principal."""
    rows = _ROWS.where(
        conn,
        " AND ".join(f"{name} = :{name}" for name in _KEY) + " AND tenant_id = :tenant",
        space_id=space_id,
        document_id=WHOLE_SPACE if document_id is None else document_id,
        principal_kind=principal.kind.value,
        principal=principal.name,
        tenant=tenant_id,
    )
    return next(iter(_CODEC.read(rows)), None)
