"""Codecs: every field of every noun has columns, every column a field, and cells mean the same on both databases."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

import pytest
from sqlalchemy import JSON, Boolean, Column, Integer, MetaData, String, Table

from shared.contracts.enums import SpaceStatus
from shared.database.codec import Composed, RowCodec, one
from shared.database.documents import DOCUMENT_CODEC
from shared.database.operations import OPERATION_CODEC
from shared.database.spaces import SPACE_CODEC
from shared.database.tables.columns import Moment, OneOf, from_microseconds, member_value, table_of, to_microseconds
from shared.database.tables.knowledge import DocumentRow, OperationRow, SpaceRow, VersionRow
from shared.database.versions import VERSION_CODEC


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    id: str
    colour: Colour | None
    at: datetime | None
    is_good: bool
    size: tuple[int, int]
    note: str | None


THING = Table(
    "thing",
    MetaData(),
    Column("id", String, primary_key=True),
    Column("colour", OneOf(Colour)),
    Column("at", Moment),
    Column("is_good", Boolean),
    Column("width", Integer),
    Column("height", Integer),
    Column("note_text", String),
)
COMPOSED = {
    "size": Composed(("width", "height"), lambda width, height: (width, height), lambda size: size),
    "note": one("note_text", str.upper, str.lower),
}
AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def a_codec() -> RowCodec[Thing]:
    return RowCodec(THING, Thing, COMPOSED)


def test_rows_become_values_and_values_rows() -> None:
    codec = a_codec()
    things = [
        Thing(id="a", colour=Colour.RED, at=AT, is_good=True, size=(1, 2), note="X"),
        Thing(id="b", colour=None, at=None, is_good=False, size=(3, 4), note=None),
    ]
    cells: list[Sequence[object]] = [
        ["a", "b"],
        ["red", None],
        [1_772_368_215_123_456, None],
        [True, False],
        (1, 3),
        (2, 4),
        ("x", None),
    ]
    assert [list(column) for column in codec.write(things)] == list(map(list, cells))
    assert codec.read(list(zip(*cells, strict=True))) == things


def test_sqlite_has_numbers_where_there_are_booleans() -> None:
    (thing,) = a_codec().read([("a", "red", None, 1, 1, 2, None)])
    assert thing.is_good is True


def test_only_the_columns_that_are_asked_for_are_written_in_the_order_asked_for() -> None:
    thing = Thing(id="a", colour=Colour.BLUE, at=None, is_good=True, size=(1, 2), note=None)
    assert [list(column) for column in a_codec().write([thing], ("height", "colour", "id"))] == [[2], ["blue"], ["a"]]


def test_nothing_is_no_rows_either_way() -> None:
    codec = a_codec()
    assert codec.read([]) == []
    assert all(list(column) == [] for column in codec.write([]))


def test_a_value_that_the_enum_does_not_know_fails() -> None:
    with pytest.raises(KeyError, match="green"):
        a_codec().read([("a", "green", None, 1, 1, 2, None)])


def test_json_needs_to_be_told_how_it_is_read() -> None:
    @dataclass(frozen=True)
    class Document:
        body: str

    with pytest.raises(TypeError, match="say how it is read"):
        RowCodec(Table("d", MetaData(), Column("body", JSON)), Document)


@pytest.mark.parametrize(
    ("codec", "row"),
    [
        (SPACE_CODEC, SpaceRow),
        (DOCUMENT_CODEC, DocumentRow),
        (VERSION_CODEC, VersionRow),
        (OPERATION_CODEC, OperationRow),
    ],
)
def test_every_column_of_a_noun_is_read_and_written(codec: RowCodec[object], row: type[SpaceRow]) -> None:
    assert sorted(codec.columns) == sorted(column.name for column in table_of(row).columns)


@pytest.mark.parametrize(
    ("moment", "microseconds"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2026, 3, 1, 13, 30, 15, 123456, tzinfo=timezone(timedelta(hours=1))), 1_772_368_215_123_456),
        (datetime.max.replace(tzinfo=UTC), 253_402_300_799_999_999),
    ],
)
def test_a_moment_is_whole_microseconds_and_comes_back_in_utc(moment: datetime, microseconds: int) -> None:
    assert to_microseconds(moment) == microseconds
    assert from_microseconds(microseconds) == moment
    assert from_microseconds(microseconds).tzinfo is UTC  # type: ignore[union-attr]


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(TypeError):
        to_microseconds(datetime(2026, 3, 1))  # noqa: DTZ001 - that is what is refused


def test_an_enum_is_stored_as_a_plain_string() -> None:
    assert type(member_value(SpaceStatus.ACTIVE)) is str
    assert member_value(None) is None


def test_fields_of_the_sample_are_all_there() -> None:
    assert {field.name for field in fields(Thing)} == {"id", "colour", "at", "is_good", "size", "note"}
