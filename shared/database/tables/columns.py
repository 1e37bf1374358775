"""Column types that mean the same on SQLite and PostgreSQL, and how their values look in a driver's hands."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, Integer, String, Table, TypeDecorator
from sqlmodel import Field, SQLModel

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(moment: datetime | None) -> int | None:
    """Whole microseconds since 1970; a naive time is a bug and raises TypeError."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def from_microseconds(since: int | None) -> datetime | None:
    """The aware UTC time so many microseconds after 1970."""
    return None if since is None else _EPOCH + timedelta(0, 0, since)


def member_value(member: StrEnum | None) -> str | None:
    """The text of an enum's member, as a plain string."""
    return None if member is None else member._value_


class Moment(TypeDecorator[datetime]):
    """An aware UTC time kept as whole microseconds since 1970: compares and sorts the same on both databases."""

    impl = BigInteger().with_variant(Integer, "sqlite")
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], int | None]:
        """Aware time to microseconds."""
        return to_microseconds

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[int | None], datetime | None]:
        """Microseconds to aware time."""
        return from_microseconds


class OneOf(TypeDecorator[StrEnum]):
    """A StrEnum kept as text. A value that the enum does not know fails on reading: it is from a newer release."""

    impl = String
    cache_ok = True

    def __init__(self, members: type[StrEnum]) -> None:
        super().__init__()
        self.members = members
        self.by_value: Mapping[str | None, StrEnum | None] = {
            None: None,
            **{member.value: member for member in members},
        }

    def bind_processor(self, dialect: Dialect) -> Callable[[StrEnum | None], str | None]:
        """The member's value."""
        return member_value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | None], StrEnum | None]:
        """The member with this value."""
        return self.by_value.__getitem__


def moment(**options: Any) -> Any:
    """A time column."""
    return Field(sa_type=Moment, **options)


def key(**options: Any) -> Any:
    """A primary key of text."""
    return Field(primary_key=True, **options)


def json_column(**options: Any) -> Any:
    """A column of small JSON, read whole."""
    return Field(sa_type=JSON, **options)


def big(**options: Any) -> Any:
    """A 64-bit integer column."""
    return Field(sa_type=BigInteger, **options)


def one_of(statuses: type[StrEnum], **options: Any) -> Any:
    """A column that holds one of an enum's values, as text."""
    return Field(sa_type=OneOf(statuses), **options)


def table_of(row: type[SQLModel]) -> Table:
    """The table that a row class declares."""
    return SQLModel.metadata.tables[str(row.__tablename__)]
