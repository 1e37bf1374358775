"""Service tokens that tenants make for themselves. Of a token its SHA-256 is kept and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.ids import SubjectId, TenantId
from shared.database.codec import RowCodec
from shared.database.locking import Lock
from shared.database.pages import read_page
from shared.database.rows import TableRows
from shared.database.tables.access import ServiceTokenRow
from shared.database.tables.columns import table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken:
    """A token by which a service speaks for one tenant. Several may be live at once."""

    id: str
    tenant_id: TenantId
    service: str
    sha256: str
    created_by: SubjectId
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


_TABLE = table_of(ServiceTokenRow)
_CODEC = RowCodec(_TABLE, StoredToken)
_ROWS = TableRows(_TABLE, _CODEC.columns)
_CHANGING = ("revoked_at",)


def load_token(conn: Connection, tenant_id: TenantId, token_id: str, *, lock: Lock = Lock.NONE) -> StoredToken | None:
    """The tenant's token of this id, live or not."""
    rows = _ROWS.where(conn, "id = :id AND tenant_id = :tenant", lock=lock, id=token_id, tenant=tenant_id)
    return next(iter(_CODEC.read(rows)), None)


def insert_tokens(conn: Connection, tokens: Sequence[StoredToken]) -> None:
    """Store new tokens."""
    _ROWS.insert(conn, _CODEC.write(tokens))


def save_tokens(conn: Connection, tokens: Sequence[StoredToken]) -> None:
    """Store what may change of tokens that are there."""
    _ROWS.update(conn, _CHANGING, _CODEC.write(tokens, (*_CHANGING, "id")))


def list_tokens(conn: Connection, tenant_id: TenantId, *, page: int, page_size: int) -> tuple[list[StoredToken], int]:
    """One page of the tenant's tokens, revoked ones among them, oldest first, and how many there are in all."""
    rows, total = read_page(
        conn,
        _TABLE,
        _CODEC.columns,
        "tenant_id = :tenant",
        order=("created_at", "id"),
        page=page,
        page_size=page_size,
        tenant=tenant_id,
    )
    return _CODEC.read(rows), total
