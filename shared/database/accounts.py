"""Accounts: the users of a tenant as the gateway itself knows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import Connection

from shared.contracts.enums import AccountStatus
from shared.contracts.ids import SubjectId, TenantId
from shared.database.codec import RowCodec, one
from shared.database.locking import Lock
from shared.database.pages import read_page
from shared.database.rows import TableRows
from shared.database.tables.access import AccountRow
from shared.database.tables.columns import table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One user. Of one that is not managed, memberships are those of the last assertion that was noted."""

    tenant_id: TenantId
    subject: SubjectId
    status: AccountStatus = AccountStatus.ACTIVE
    is_managed: bool = False
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime


def _read_names(cell: str) -> tuple[str, ...]:
    return tuple(orjson.loads(cell))


def _write_names(names: tuple[str, ...]) -> str:
    return orjson.dumps(names).decode()


_KEY = ("tenant_id", "subject")
_CHANGING = ("status", "is_managed", "groups", "roles", "domains", "updated_at")
_TABLE = table_of(AccountRow)
_CODEC = RowCodec(
    _TABLE, Account, {name: one(name, _read_names, _write_names) for name in ("groups", "roles", "domains")}
)
_ROWS = TableRows(_TABLE, _CODEC.columns, key=_KEY)


def load_account(
    conn: Connection, tenant_id: TenantId, subject: SubjectId, *, lock: Lock = Lock.NONE
) -> Account | None:
    """The account, if there is one; most users have none."""
    rows = _ROWS.where(conn, "tenant_id = :tenant AND subject = :subject", lock=lock, tenant=tenant_id, subject=subject)
    return next(iter(_CODEC.read(rows)), None)


def insert_missing_accounts(conn: Connection, accounts: Sequence[Account]) -> None:
    """Store those accounts that are not there yet."""
    _ROWS.insert_missing(conn, _CODEC.write(accounts))


def save_accounts(conn: Connection, accounts: Sequence[Account]) -> None:
    """Store what may change of accounts that are there."""
    _ROWS.update(conn, _CHANGING, _CODEC.write(accounts, (*_CHANGING, *_KEY)))


def list_accounts(conn: Connection, tenant_id: TenantId, *, page: int, page_size: int) -> tuple[list[Account], int]:
    """One page of the tenant's accounts, oldest first, and how many there are in all."""
    rows, total = read_page(
        conn,
        _TABLE,
        _CODEC.columns,
        "tenant_id = :tenant",
        order=("created_at", "subject"),
        page=page,
        page_size=page_size,
        tenant=tenant_id,
    )
    return _CODEC.read(rows), total
