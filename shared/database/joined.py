"""Rows of joined tables, cut back into the values that each table holds."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from sqlalchemy import Table

from shared.database.codec import RowCodec
from shared.database.sql import selected

T = TypeVar("T")


class Part(Generic[T]):
    """One table's share in the columns of a select: which columns, from which place on, and what they make."""

    def __init__(self, table: Table, codec: RowCodec[T], alias: str = "", *, after: "Part[Any] | None" = None) -> None:
        self._table = table
        self._codec = codec
        self._alias = alias
        self._start: int = 0 if after is None else after.stop
        self.stop: int = self._start + len(codec.columns)
        self._key = self._start + codec.columns.index("id")

    def columns(self, dialect: str) -> str:
        """The columns as the select names them."""
        return selected(dialect, self._table, self._codec.columns, self._alias)

    def read(self, rows: Sequence[Sequence[Any]]) -> list[T | None]:
        """For each row the value of this part; None where an outer join found nothing."""
        found = [row[self._start : self.stop] for row in rows if row[self._key] is not None]
        values = iter(self._codec.read(found))
        return [None if row[self._key] is None else next(values) for row in rows]
