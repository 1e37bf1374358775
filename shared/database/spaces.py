"""Spaces as rows."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from shared.contracts.commands import ProviderProfile
from shared.contracts.ids import TenantId
from shared.database.codec import RowCodec, one
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import SpaceRow
from shared.domain.space import Space

_TABLE = table_of(SpaceRow)
SPACE_CODEC = RowCodec(
    _TABLE,
    Space,
    {"profile": one("profile", ProviderProfile.model_validate_json, ProviderProfile.model_dump_json)},
)
_ROWS = TableRows(_TABLE, SPACE_CODEC.columns)
_CHANGING = ("name", "description", "status", "lock_version", "native_id", "updated_at")


def load_spaces(conn: Connection, ids: Collection[str], *, lock: Lock = Lock.NONE) -> dict[str, Space]:
    """The spaces with these ids, by id; ids that name none are left out."""
    return {space.id: space for space in SPACE_CODEC.read(_ROWS.by_key(conn, ids, lock))}


def insert_spaces(conn: Connection, spaces: Sequence[Space]) -> None:
    """Store new spaces. UniqueViolation("space_code_once") when the tenant has such a code already."""
    _ROWS.insert(conn, SPACE_CODEC.write(spaces))


def save_spaces(conn: Connection, spaces: Sequence[Space]) -> None:
    """Store what may change of spaces that are there."""
    _ROWS.update(conn, _CHANGING, SPACE_CODEC.write(spaces, (*_CHANGING, "id")))


def code_is_taken(conn: Connection, tenant_id: TenantId, code: str) -> bool:
    """Whether a space of the tenant that is not DELETED has this code."""
    text = "SELECT 1 FROM space WHERE tenant_id = :tenant AND code = :code AND status <> 'DELETED'"
    return run(conn, text, tenant=tenant_id, code=code).first() is not None
