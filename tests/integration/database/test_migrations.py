"""Migrations: they end in exactly the tables that the code declares, once, whoever runs them."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from pydantic import SecretStr
from sqlalchemy import Connection

from shared.database import postgres, sqlite
from shared.database.database import Database, open_database
from shared.database.errors import SchemaOutdated
from shared.database.migrate import current, head, require_current, upgrade
from shared.database.settings import SQLITE, DatabaseSettings
from shared.database.sql import run
from shared.database.tables.schema import metadata
from tests.support.postgres import LocalPostgres


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DatabaseSettings]:
    """A database that holds nothing: a file that is not there, or a new one on the server."""
    if request.param == "sqlite":
        yield DatabaseSettings(url=SecretStr(f"sqlite:///{tmp_path}/in/a/folder/knowgate.db"))
        return
    server: LocalPostgres = request.getfixturevalue("postgres")
    yield DatabaseSettings(url=SecretStr(server.create_database("knowgate_empty")))
    server.drop_database("knowgate_empty")


def definitions(conn: Connection) -> list[tuple[str, ...]]:
    """Every table, column, index and constraint as the database itself writes them down."""
    if conn.dialect.name == SQLITE:
        rows = run(conn, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'trigger'").all()
        cells = [(kind, name, *_parts(text)) for kind, name, text in rows]
    else:
        cells = [
            tuple(str(cell) for cell in row)
            for query in (
                "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
                "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint",
                """SELECT table_name, column_name, data_type, is_nullable, column_default
                   FROM information_schema.columns WHERE table_schema = 'public'""",
            )
            for row in run(conn, query).all()
        ]
    return sorted(cell for cell in cells if "alembic_version" not in " ".join(cell))


def _parts(text: str) -> list[str]:
    """The parts of a definition; neither their order nor the quotes that renaming adds mean anything."""
    return sorted(part.strip(" )") for part in " ".join(text.replace('"', "").split()).split(", "))


def declared(settings: DatabaseSettings) -> list[tuple[str, ...]]:
    """What the tables of the code come to in an empty database."""
    engine = (sqlite if settings.address.drivername == SQLITE else postgres).writing_engine(settings)
    with engine.begin() as connection:
        metadata().create_all(connection)
    with engine.begin() as connection:
        found = definitions(connection)
        metadata().drop_all(connection)
    engine.dispose()
    return found


def read(settings: DatabaseSettings, work: Callable[[Connection], object]) -> object:
    """Read from a database that is closed again."""
    database = open_database(settings)
    try:
        return database.read_blocking(work)
    finally:
        asyncio.run(database.close())


def test_an_empty_database_is_at_no_revision_and_is_brought_to_the_head(empty: DatabaseSettings) -> None:
    assert current(empty) is None
    assert upgrade(empty) == head() == "0003"
    assert current(empty) == "0003"
    assert upgrade(empty) == "0003"


def test_the_migrations_make_the_tables_that_the_code_declares(empty: DatabaseSettings) -> None:
    upgrade(empty)
    options = {"compare_type": True, "compare_server_default": True}
    differences = read(empty, lambda conn: compare_metadata(MigrationContext.configure(conn, opts=options), metadata()))
    assert differences == []


def test_the_database_writes_down_the_same_definitions(empty: DatabaseSettings) -> None:
    Path(empty.address.database or "").parent.mkdir(parents=True, exist_ok=True)
    wanted = declared(empty)
    upgrade(empty)
    assert read(empty, definitions) == wanted


def test_only_one_of_many_that_migrate_at_once_does_it(empty: DatabaseSettings) -> None:
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(upgrade, [empty] * 4)) == ["0003"] * 4


async def test_a_database_that_was_not_migrated_is_refused_with_what_to_do(empty: DatabaseSettings) -> None:
    Path(empty.address.database or "").parent.mkdir(parents=True, exist_ok=True)
    database = open_database(empty)
    with pytest.raises(SchemaOutdated, match=r"revision none, this release needs 0003\. Run `knowgate migrate`"):
        await require_current(database)
    await asyncio.to_thread(upgrade, empty)
    await require_current(database)
    await database.close()


async def test_a_database_of_another_release_is_refused(database: Database) -> None:
    await database.write(lambda conn: run(conn, "UPDATE alembic_version SET version_num = 'newer'"))
    try:
        with pytest.raises(SchemaOutdated, match="revision newer"):
            await require_current(database)
    finally:
        await database.write(lambda conn: run(conn, "UPDATE alembic_version SET version_num = :head", head=head()))


def test_a_migrated_file_is_in_wal_mode(sqlite: DatabaseSettings) -> None:
    with closing(sqlite3.connect(str(sqlite.address.database))) as connection, connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_migration_that_fails_leaves_nothing(empty: DatabaseSettings) -> None:
    """A table that is in the way of the last of ours."""
    in_the_way = "CREATE TABLE document_version (id text)"
    if empty.address.drivername == SQLITE:
        Path(empty.address.database or "").parent.mkdir(parents=True)
        with closing(sqlite3.connect(str(empty.address.database))) as file, file:
            file.execute(in_the_way)
    else:
        address = empty.address.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address) as connection:
            connection.execute(in_the_way)
    with pytest.raises(Exception, match="document_version"):
        upgrade(empty)
    assert current(empty) is None
    assert read(empty, lambda conn: {cell for row in definitions(conn) for cell in row if cell == "operation"}) == set()
