"""The text of statements for both databases. Only names that the tables declare become text.

Many rows are one statement for SQLite prepared once, and for PostgreSQL one array per column, unnested: any
number of rows is one round trip and one plan. A list of texts is one parameter on both.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import orjson
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    CursorResult,
    Integer,
    LargeBinary,
    String,
    Table,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from shared.database.locking import LOCK_CLAUSE, Lock
from shared.database.settings import SQLITE

TextBuilder = Callable[[str, Table, tuple[str, ...], tuple[str, ...]], str]
"""Dialect, table, columns and key to the text of a statement on many rows."""

_AMONG = re.compile(r"\bAMONG :(\w+)")
_PAIRS = re.compile(r"\bAMONG PAIRS :(\w+)")
_PARAMETER = re.compile(r"(?<!:):(\w+)")

_ARRAYS: tuple[tuple[type[TypeEngine[Any]], str], ...] = (
    (BigInteger, "bigint[]"),
    (Integer, "integer[]"),
    (Boolean, "boolean[]"),
    (LargeBinary, "bytea[]"),
    (JSON, "text[]"),
    (String, "text[]"),
)
"""The array of PostgreSQL that holds a column's cells; the first that fits, narrower types first."""


Parameter = str | int | bool | bytes | None | Collection[str]


def run(conn: Connection, text: str, **params: Parameter) -> CursorResult[*tuple[Any, ...]]:
    """Run a statement in the notation of `render`."""
    dialect = conn.dialect.name
    given = {name: _as_given(dialect, value) for name, value in params.items()}
    return conn.exec_driver_sql(render(dialect, text), given)


@cache
def render(dialect: str, text: str) -> str:
    """Our own small notation as one database's.

    ``:name`` is a parameter, ``x AMONG :names`` compares with a list of texts, and ``(x, y) AMONG PAIRS :pairs``
    with a list of pairs of texts, given as JSON.
    """
    if dialect == SQLITE:
        text = _PAIRS.sub(
            r"IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:\1))", text
        )
        return _AMONG.sub(r"IN (SELECT value FROM json_each(:\1))", text)
    text = _PAIRS.sub(r"IN (SELECT pair ->> 0, pair ->> 1 FROM json_array_elements(:\1::json) AS pair)", text)
    return _PARAMETER.sub(r"%(\1)s", _AMONG.sub(r"= ANY(:\1::text[])", text))


def _as_given(dialect: str, value: Parameter) -> Parameter:
    if value is None or isinstance(value, str | int | bytes):
        return value
    return orjson.dumps(list(value)).decode() if dialect == SQLITE else list(value)


@cache
def select_text(
    dialect: str, table: Table, columns: tuple[str, ...], condition: str, order: tuple[str, ...], lock: Lock
) -> str:
    """A select of whole rows, locked in the order in which they come out."""
    text = f"SELECT {selected(dialect, table, columns)} FROM {table.name} WHERE {condition}"  # noqa: S608 - names of ours only
    if order:
        text += f" ORDER BY {', '.join(order)}"
    return text + ("" if dialect == SQLITE else LOCK_CLAUSE[lock])


@cache
def insert_text(dialect: str, table: Table, columns: tuple[str, ...], key: tuple[str, ...]) -> str:
    """An insert of many rows."""
    names = ", ".join(map(_quoted, columns))
    if dialect == SQLITE:
        return f"INSERT INTO {table.name} ({names}) VALUES ({_marks(columns)})"  # noqa: S608 - names of ours only
    cells = ", ".join(_unnested(table.c[name]) for name in columns)
    return f"INSERT INTO {table.name} ({names}) SELECT {cells} FROM {_rows(table, columns)}"  # noqa: S608 - as above


def insert_missing_text(dialect: str, table: Table, columns: tuple[str, ...], key: tuple[str, ...]) -> str:
    """An insert of those rows whose key is not there."""
    return f"{insert_text(dialect, table, columns, key)} ON CONFLICT DO NOTHING"


@cache
def update_text(dialect: str, table: Table, columns: tuple[str, ...], key: tuple[str, ...]) -> str:
    """An update of many rows by key; parameters are the changed columns, then the key."""
    if dialect == SQLITE:
        changes = ", ".join(f"{_quoted(name)} = ?" for name in columns)
        found = " AND ".join(f"{_quoted(name)} = ?" for name in key)
        return f"UPDATE {table.name} SET {changes} WHERE {found}"  # noqa: S608 - names of ours only
    changes = ", ".join(f"{_quoted(name)} = {_unnested(table.c[name])}" for name in columns)
    rows = _rows(table, columns, key)
    return f"UPDATE {table.name} SET {changes} FROM {rows} WHERE {_joined(table, key)}"  # noqa: S608 - as above


@cache
def delete_text(dialect: str, table: Table, columns: tuple[str, ...], key: tuple[str, ...]) -> str:
    """A delete of many rows by key."""
    if dialect == SQLITE:
        found = " AND ".join(f"{_quoted(name)} = ?" for name in key)
        return f"DELETE FROM {table.name} WHERE {found}"  # noqa: S608 - names of ours only
    return f"DELETE FROM {table.name} USING {_rows(table, (), key)} WHERE {_joined(table, key)}"  # noqa: S608 - as above


@cache
def selected(dialect: str, table: Table, columns: tuple[str, ...], alias: str = "") -> str:
    """The columns of a select. JSON is read as text on both databases; the codec knows what it holds."""
    names = [f"{alias or table.name}.{_quoted(name)}" for name in columns]
    if dialect == SQLITE:
        return ", ".join(names)
    is_json = [isinstance(table.c[name].type, JSON) for name in columns]
    return ", ".join(f"{name}::text" if parsed else name for name, parsed in zip(names, is_json, strict=True))


def _quoted(name: str) -> str:
    return f'"{name}"'


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" for _ in columns)


def _unnested(column: Column[Any]) -> str:
    cell = f"given.{_quoted(column.name)}"
    return f"{cell}::json" if isinstance(column.type, JSON) else cell


def _rows(table: Table, columns: Sequence[str], key: Sequence[str] = ()) -> str:
    """The given rows. A column may stand among the changed ones and in the key at once, so the key is called apart."""
    arrays = ", ".join(f"%s::{_array(table.c[name])}" for name in (*columns, *key))
    names = ", ".join((*map(_quoted, columns), *map(_key_name, key)))
    return f"unnest({arrays}) AS given({names})"


def _joined(table: Table, key: Sequence[str]) -> str:
    return " AND ".join(f"{table.name}.{_quoted(name)} = given.{_key_name(name)}" for name in key)


def _key_name(name: str) -> str:
    return f'"key {name}"'


def _array(column: Column[Any]) -> str:
    kind = column.type
    while isinstance(kind, TypeDecorator):
        kind = kind.impl_instance
    return next(array for known, array in _ARRAYS if isinstance(kind, known))
