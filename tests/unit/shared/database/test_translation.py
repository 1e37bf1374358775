"""What the libraries' errors mean: unavailable, unique, to be run again, or a bug that arrives as it is."""

import sqlite3

import psycopg
import pytest
from sqlalchemy import UniqueConstraint
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.database.errors import UniqueViolation
from shared.database.tables.schema import metadata
from shared.database.translation import is_conflict, is_lost_connection, raise_translated, translate, translated
from shared.domain.errors import StoreUnavailable


def of_sqlite(code: int, message: str = "it failed") -> DBAPIError:
    """An error of SQLite as SQLAlchemy raises it."""
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return DBAPIError("SELECT 1", (), error)


def of_postgres(state: str | None, kind: type[psycopg.Error] = psycopg.OperationalError) -> DBAPIError:
    """An error of PostgreSQL as SQLAlchemy raises it."""
    error = kind("it failed")
    error.sqlstate = state
    return DBAPIError("SELECT 1", (), error)


@pytest.mark.parametrize(
    "code",
    [
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_BUSY_SNAPSHOT,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    ],
)
def test_a_sqlite_that_cannot_be_used_now_is_unavailable(code: int) -> None:
    assert isinstance(translate(of_sqlite(code)), StoreUnavailable)


@pytest.mark.parametrize(
    "state",
    ["08006", "53100", "53300", "57P01", "57P03", "58030", "25006", "25P03", "55P03", "57014", "40001", "40P01", None],
)
def test_a_postgresql_that_cannot_be_used_now_is_unavailable(state: str | None) -> None:
    assert isinstance(translate(of_postgres(state)), StoreUnavailable)


def test_an_error_of_the_driver_itself_means_the_same() -> None:
    assert isinstance(translate(of_sqlite(sqlite3.SQLITE_FULL).orig), StoreUnavailable)  # type: ignore[arg-type]
    assert isinstance(translate(of_postgres("53100").orig), StoreUnavailable)  # type: ignore[arg-type]


def test_waiting_too_long_for_a_connection_is_unavailable() -> None:
    assert isinstance(translate(PoolTimeout()), StoreUnavailable)


@pytest.mark.parametrize(
    "error",
    [
        of_sqlite(sqlite3.SQLITE_ERROR, "no such table: x"),
        of_sqlite(sqlite3.SQLITE_CORRUPT),
        of_sqlite(sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY),
        of_postgres("42P01", psycopg.ProgrammingError),
        of_postgres("23503", psycopg.IntegrityError),
        of_postgres(None, psycopg.ProgrammingError),
        ValueError("ours"),
    ],
)
def test_what_is_a_bug_arrives_as_it_is(error: Exception) -> None:
    assert translate(error) is error
    assert translated(error) is error


@pytest.mark.parametrize(
    ("message", "constraint"),
    [
        ("UNIQUE constraint failed: space.tenant_id, space.code", "space_code_once"),
        ("UNIQUE constraint failed: operation.document_id", "operation_one_at_a_time"),
        ("UNIQUE constraint failed: document_version.document_id, document_version.number", "version_number_once"),
        ("UNIQUE constraint failed: file.object_key", "file_object_once"),
        ("UNIQUE constraint failed: outbox.owner_id, outbox.command_id", "outbox_pkey"),
        ("UNIQUE constraint failed: somewhere.else", "UNIQUE constraint failed: somewhere.else"),
    ],
)
def test_sqlites_columns_become_the_name_that_postgresql_gives(message: str, constraint: str) -> None:
    error = translate(of_sqlite(sqlite3.SQLITE_CONSTRAINT_UNIQUE, message))
    assert isinstance(error, UniqueViolation)
    assert error.constraint == constraint


def test_no_two_rules_are_on_the_same_columns_so_their_columns_name_them() -> None:
    for table in metadata().tables.values():
        constraints = [rule for rule in table.constraints if isinstance(rule, UniqueConstraint)]
        indexes = [index for index in table.indexes if index.unique]
        named = [(rule.name, frozenset(rule.columns.keys())) for rule in constraints]
        named += [(index.name, frozenset(index.columns.keys())) for index in indexes]
        assert all(name is not None for name, _ in named), table.name
        columns = [frozenset(table.primary_key.columns.keys()), *(columns for _, columns in named)]
        assert len(set(columns)) == len(columns), table.name


def test_the_librarys_error_stays_the_cause() -> None:
    error = of_sqlite(sqlite3.SQLITE_FULL)
    assert translated(error).__cause__ is error
    with pytest.raises(StoreUnavailable) as caught:
        raise_translated(error)
    assert caught.value.__cause__ is error
    bug = of_sqlite(sqlite3.SQLITE_ERROR)
    with pytest.raises(DBAPIError) as raised:
        raise_translated(bug)
    assert raised.value is bug


@pytest.mark.parametrize(("state", "expected"), [("40001", True), ("40P01", True), ("55P03", False), (None, False)])
def test_only_what_was_broken_off_for_another_transaction_is_a_conflict(state: str | None, expected: bool) -> None:
    assert is_conflict(of_postgres(state)) is expected
    assert not is_conflict(of_sqlite(sqlite3.SQLITE_BUSY))


def test_a_lost_connection_is_what_the_library_gave_up() -> None:
    lost = DBAPIError("SELECT 1", (), psycopg.OperationalError(), connection_invalidated=True)
    assert is_lost_connection(lost)
    assert not is_lost_connection(of_postgres(None))
    assert not is_lost_connection(ValueError())
