"""Turns the rows of one table into values of one dataclass and back, a column at a time.

Batches of hundreds of rows are read and written for every transaction of the projector, so a value is
converted by one call per cell, or none, instead of going through the ORM's machinery row by row.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import JSON, Boolean, Column, Table

from shared.database.tables.columns import Moment, OneOf, from_microseconds, member_value, to_microseconds

T = TypeVar("T")

Cell = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Composed:
    """A field that several columns make, or one column in a form of its own."""

    columns: tuple[str, ...]
    read: Callable[..., Any]
    """Takes one cell per column."""
    write: Callable[[Any], tuple[Any, ...]]
    """Gives one cell per column."""


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    columns: tuple[str, ...]
    read: Cell | None
    write: Cell | None


class RowCodec(Generic[T]):
    """Reads and writes values of the dataclass `kind`; a field without a mapping is the column of its name."""

    def __init__(self, table: Table, kind: type[T], composed: Mapping[str, Composed] | None = None) -> None:
        self._kind = kind
        self._composed = composed or {}
        self._fields = [self._field(table, field.name) for field in fields(kind)]  # type: ignore[arg-type]
        self.columns = tuple(column for field in self._fields for column in field.columns)

    def _field(self, table: Table, name: str) -> _Field:
        composed = self._composed.get(name)
        if composed is not None:
            return _Field(name, composed.columns, composed.read, composed.write)
        read, write = _converters(table.c[name])
        return _Field(name, (name,), read, write)

    def read(self, rows: Sequence[Sequence[Any]]) -> list[T]:
        """The values of rows that hold the cells of `columns`, in that order."""
        if not rows:
            return []
        cells = iter(zip(*rows, strict=True))
        values = [self._read_field(field, [next(cells) for _ in field.columns]) for field in self._fields]
        names = [field.name for field in self._fields]
        kind = self._kind
        return [kind(**dict(zip(names, row, strict=True))) for row in zip(*values, strict=True)]

    def _read_field(self, field: _Field, cells: list[Sequence[Any]]) -> Iterable[Any]:
        if field.read is None:
            return cells[0]
        return map(field.read, *cells)

    def write(self, values: Sequence[T], only: Sequence[str] | None = None) -> list[Sequence[Any]]:
        """The cells of the values: one sequence per column of `columns`, or of `only`."""
        cells: dict[str, Sequence[Any]] = {}
        wanted = self.columns if only is None else only
        if not values:
            return [() for _ in wanted]
        for field in self._fields:
            if only is None or not set(field.columns).isdisjoint(wanted):
                cells |= self._write_field(field, values)
        return [cells[column] for column in wanted]

    def _write_field(self, field: _Field, values: Sequence[T]) -> dict[str, Sequence[Any]]:
        found = map(attrgetter(field.name), values)
        if field.write is None:
            return {field.columns[0]: list(found)}
        written = map(field.write, found)
        if field.name not in self._composed:
            return {field.columns[0]: list(written)}
        return dict(zip(field.columns, zip(*written, strict=True), strict=True))


def _converters(column: Column[Any]) -> tuple[Cell | None, Cell | None]:
    """How a cell of the column is read and written; None: as it is."""
    kind = column.type
    if isinstance(kind, Moment):
        return from_microseconds, to_microseconds
    if isinstance(kind, OneOf):
        return kind.by_value.__getitem__, member_value
    if isinstance(kind, Boolean):
        return bool, None
    if isinstance(kind, JSON):
        raise TypeError(f"{column} is JSON: say how it is read")
    return None, None


def one(column: str, read: Cell, write: Cell) -> Composed:
    """A field that is one column in a form of its own; null is None."""
    return Composed(
        (column,),
        lambda cell: None if cell is None else read(cell),
        lambda value: (None if value is None else write(value),),
    )
