"""The same tests on SQLite and on PostgreSQL: each gets a migrated, empty database of its own."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from shared.database.database import Database, open_database
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from shared.database.tables.schema import metadata
from tests.support.postgres import LocalPostgres


def sqlite_settings(file: Path) -> DatabaseSettings:
    """The settings of a database in a file."""
    return DatabaseSettings(url=SecretStr(f"sqlite:///{file}"))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database that is copied for every test."""
    file = tmp_path_factory.mktemp("sqlite") / "template.db"
    upgrade(sqlite_settings(file))
    return file


@pytest.fixture
def sqlite(sqlite_template: Path, tmp_path: Path) -> DatabaseSettings:
    """A database in a file of the test's own."""
    return sqlite_settings(Path(shutil.copy(sqlite_template, tmp_path / "knowgate.db")))


@pytest.fixture(scope="session")
def migrated_postgresql(postgres: LocalPostgres) -> DatabaseSettings:
    """A migrated database on the server."""
    settings = DatabaseSettings(url=SecretStr(postgres.create_database("knowgate_database")))
    upgrade(settings)
    return settings


@pytest.fixture
def postgresql(migrated_postgresql: DatabaseSettings) -> DatabaseSettings:
    """The database on the server, emptied; what forbids emptying the audit is passed over."""
    tables = ", ".join(metadata().tables)
    address = migrated_postgresql.address.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(f"TRUNCATE {tables}".encode())
    return migrated_postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest) -> DatabaseSettings:
    """A database of each kind."""
    chosen: DatabaseSettings = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
def opened() -> Iterator[Callable[[DatabaseSettings], Database]]:
    """Opens databases that are closed at the end."""
    databases: list[Database] = []

    def open_and_keep(settings: DatabaseSettings) -> Database:
        databases.append(open_database(settings))
        return databases[-1]

    yield open_and_keep
    for database in databases:
        asyncio.run(database.close())


@pytest.fixture
def database(settings: DatabaseSettings, opened: Callable[[DatabaseSettings], Database]) -> Database:
    """An open database of each kind."""
    return opened(settings)
