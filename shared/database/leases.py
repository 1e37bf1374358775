"""The lease that makes one process the active one, by the database's own clock.

The holder's transactions share the row's key (`hold_lease`), which does not hinder its renewal, since that
changes no key; a takeover excludes both, so it waits for the holder's transaction and no later one passes.
"""

from datetime import timedelta

from sqlalchemy import Connection

from shared.database.errors import LeaseLost
from shared.database.settings import SQLITE
from shared.database.sql import run

_SQLITE_CLOCK = (
    "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
)
_POSTGRES_CLOCK = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
"""Both are microseconds since 1970."""

_MAKE = """
INSERT INTO lease (name, holder, epoch, expires_at, renewed_at) VALUES (:name, '', 0, 0, 0) ON CONFLICT DO NOTHING
"""
_IS_FREE = "SELECT expires_at <= {clock} FROM lease WHERE name = :name"
_LOCK = "SELECT epoch FROM lease WHERE name = :name FOR UPDATE"
_TAKE = """
UPDATE lease SET holder = :holder, epoch = epoch + 1, expires_at = {clock} + :ttl, renewed_at = {clock}
WHERE name = :name AND (expires_at <= {clock} OR :steal) RETURNING epoch
"""
_RENEW = """
UPDATE lease SET expires_at = {clock} + :ttl, renewed_at = {clock}
WHERE name = :name AND holder = :holder AND epoch = :epoch
"""
_HOLD = "SELECT epoch FROM lease WHERE name = :name"
_RELEASE = "UPDATE lease SET expires_at = 0 WHERE name = :name AND holder = :holder AND epoch = :epoch"


def take_lease(conn: Connection, name: str, holder: str, ttl: timedelta, *, steal: bool = False) -> int | None:
    """Become the holder for `ttl` if the lease is free, has run out, or is to be stolen; the new epoch, else None.

    `steal` is for a successor that knows its predecessor to be dead.
    """
    run(conn, _MAKE, name=name)
    is_free = run(conn, _with_clock(conn, _IS_FREE), name=name).scalar_one()
    if not (is_free or steal):
        return None
    if conn.dialect.name != SQLITE:
        run(conn, _LOCK, name=name)
    take = _with_clock(conn, _TAKE)
    row = run(conn, take, name=name, holder=holder, ttl=_microseconds(ttl), steal=steal).first()
    return None if row is None else int(row[0])


def renew_lease(conn: Connection, name: str, holder: str, epoch: int, ttl: timedelta) -> bool:
    """Hold the lease for another `ttl` from now; False when somebody else has taken it."""
    renew = _with_clock(conn, _RENEW)
    return run(conn, renew, name=name, holder=holder, epoch=epoch, ttl=_microseconds(ttl)).rowcount == 1


def hold_lease(conn: Connection, name: str, epoch: int) -> None:
    """Keep the lease from being taken until this transaction ends; LeaseLost when it is of another epoch."""
    hold = _HOLD if conn.dialect.name == SQLITE else f"{_HOLD} FOR KEY SHARE"
    if run(conn, hold, name=name).scalar() != epoch:
        raise LeaseLost


def release_lease(conn: Connection, name: str, holder: str, epoch: int) -> None:
    """Let the next one have the lease at once; nothing happens when it is no longer ours."""
    run(conn, _RELEASE, name=name, holder=holder, epoch=epoch)


def _microseconds(ttl: timedelta) -> int:
    return ttl // timedelta(microseconds=1)


def _with_clock(conn: Connection, text: str) -> str:
    return text.format(clock=_SQLITE_CLOCK if conn.dialect.name == SQLITE else _POSTGRES_CLOCK)
