"""Runs the statements of one table: reads rows by key or condition, writes many rows at once."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from shared.database.locking import Lock
from shared.database.settings import SQLITE
from shared.database.sql import (
    Parameter,
    TextBuilder,
    delete_text,
    insert_missing_text,
    insert_text,
    run,
    select_text,
    update_text,
)

Cells = Sequence[Sequence[Any]]
"""Many rows as one sequence of cells per column."""

Rows = Sequence[Sequence[Any]]


class TableRows:
    """The rows of one table, of which `columns` are read and written in that order."""

    def __init__(self, table: Table, columns: Sequence[str], *, key: tuple[str, ...] = ("id",)) -> None:
        self._table = table
        self._columns = tuple(columns)
        self._key = key

    def by_key(self, conn: Connection, keys: Collection[str], lock: Lock = Lock.NONE) -> Rows:
        """The rows with these values in the first column of the key, locked in the order of their keys."""
        if not keys:
            return []
        if len(keys) == 1:
            return self.where(conn, f"{self._key[0]} = :key", lock=lock, key=next(iter(keys)))
        return self.where(conn, f"{self._key[0]} AMONG :keys", lock=lock, keys=keys)

    def where(
        self,
        conn: Connection,
        condition: str,
        *,
        order: tuple[str, ...] | None = None,
        limit: int | None = None,
        lock: Lock = Lock.NONE,
        **params: Parameter,
    ) -> Rows:
        """The rows that fulfil a condition in the notation of `sql.render`; those to be locked come in order of key."""
        if order is None:
            order = () if lock is Lock.NONE else self._key
        text = select_text(conn.dialect.name, self._table, self._columns, condition, order, lock)
        if limit is not None:
            return run(conn, f"{text} LIMIT :most", most=limit, **params).all()
        return run(conn, text, **params).all()

    def insert(self, conn: Connection, cells: Cells) -> None:
        """Insert rows; cells are given for all columns."""
        self._write(conn, insert_text, self._columns, cells)

    def insert_missing(self, conn: Connection, cells: Cells) -> None:
        """Insert those rows that are not there yet."""
        self._write(conn, insert_missing_text, self._columns, cells)

    def update(self, conn: Connection, changed: tuple[str, ...], cells: Cells) -> None:
        """Set the `changed` columns by key; cells are given for these and then for the key."""
        self._write(conn, update_text, changed, cells)

    def delete(self, conn: Connection, keys: Cells) -> None:
        """Delete rows; cells are given for the columns of the key."""
        self._write(conn, delete_text, (), keys)

    def _write(self, conn: Connection, build: TextBuilder, columns: tuple[str, ...], cells: Cells) -> None:
        if not cells or not cells[0]:
            return
        text = build(conn.dialect.name, self._table, columns, self._key)
        if conn.dialect.name == SQLITE:
            conn.exec_driver_sql(text, list(zip(*cells, strict=True)))
        else:
            conn.exec_driver_sql(text, tuple(list(column) for column in cells))
