"""What the errors of SQLite, psycopg and SQLAlchemy mean to us."""

import re
import sqlite3
from functools import cache
from typing import Any, NoReturn

import psycopg
from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import SQLModel

from shared.database.errors import UniqueViolation
from shared.domain.errors import StoreUnavailable

_SQLITE_AWAY = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
_SQLITE_UNIQUE = frozenset({sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY})
_UNIQUE_COLUMNS = re.compile(r"UNIQUE constraint failed: (.+)$")
_PRIMARY_CODE = 0xFF

_UNIQUE = "23505"
_RETRIED = frozenset({"40001", "40P01"})
"""Serialisation failure and deadlock."""

_POSTGRES_AWAY = ("08", "53", "57P", "58", "25006", "25P03", "25P04", "55P03", "57014")
"""No connection, no resources, shut down, broken disk, a standby, and the timeouts that we set."""


def translate(error: BaseException) -> BaseException:
    """The error as the callers of the database know it; one that is none of the database's is returned as it is.

    A driver's own error comes unwrapped from where we use the driver directly.
    """
    if isinstance(error, PoolTimeout):
        return StoreUnavailable()
    if isinstance(error, StopIteration):
        return RuntimeError("the work raised StopIteration, which no future can carry")
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return _translate_sqlite(original) or error
    if isinstance(original, psycopg.Error):
        return _translate_postgres(original) or error
    return error


def translated(error: BaseException) -> BaseException:
    """`translate`, with the library's error kept as the cause."""
    translation = translate(error)
    if translation is not error:
        translation.__cause__ = error
    return translation


def raise_translated(error: SQLAlchemyError | StopIteration) -> NoReturn:
    """Raise the translation, from the library's error; or that error itself when it has none."""
    translation = translate(error)
    if translation is error:
        raise error
    raise translation from error


def is_conflict(error: BaseException) -> bool:
    """Whether PostgreSQL broke the transaction off for the sake of another one: run it again."""
    return isinstance(error, DBAPIError) and isinstance(error.orig, psycopg.Error) and error.orig.sqlstate in _RETRIED


def is_lost_connection(error: BaseException) -> bool:
    """Whether the connection was gone, so that nothing of the transaction is there unless it was committing."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def _translate_sqlite(error: sqlite3.Error) -> BaseException | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    if code in _SQLITE_UNIQUE:
        return UniqueViolation(_sqlite_constraint(str(error)))
    return StoreUnavailable() if code & _PRIMARY_CODE in _SQLITE_AWAY else None


def _translate_postgres(error: psycopg.Error) -> BaseException | None:
    state = error.sqlstate
    if state == _UNIQUE:
        return UniqueViolation(error.diag.constraint_name or "")
    if state is None:
        return StoreUnavailable() if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else None
    return StoreUnavailable() if state.startswith(_POSTGRES_AWAY) or state in _RETRIED else None


def _sqlite_constraint(message: str) -> str:
    """SQLite names the columns of the index and not the index."""
    found = _UNIQUE_COLUMNS.search(message)
    columns = frozenset() if found is None else frozenset(found.group(1).split(", "))
    return _unique_names().get(columns, message)


@cache
def _unique_names() -> dict[frozenset[str], str]:
    return {
        frozenset(f"{table.name}.{column.name}" for column in rule.columns): _name(table, rule)
        for table in SQLModel.metadata.tables.values()
        for rule in (*table.constraints, *table.indexes)
        if isinstance(rule, PrimaryKeyConstraint | UniqueConstraint) or (isinstance(rule, Index) and rule.unique)
    }


def _name(table: Table, rule: Any) -> str:
    """A primary key is called as PostgreSQL calls it."""
    return str(rule.name or f"{table.name}_pkey")
