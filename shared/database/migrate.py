"""Brings a database to the tables of this release, one process at a time, and refuses to work with any other."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from shared.database import migrations, postgres, sqlite
from shared.database.database import Database
from shared.database.errors import SchemaOutdated
from shared.database.file_locks import WriteTurns
from shared.database.settings import SQLITE, DatabaseSettings
from shared.database.translation import raise_translated

_MIGRATION_LOCK = 0x6B6E6F77
"""The key of PostgreSQL's advisory lock."""

_PATIENCE = timedelta(seconds=30)
"""How long a migration waits for those who write."""


def upgrade(settings: DatabaseSettings) -> str:
    """Bring the database to this release's tables, making it if it is not there; the revision it is at then."""
    with _alone(settings) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return head()


def current(settings: DatabaseSettings) -> str | None:
    """The revision that the database is at; None when it has no tables of ours."""
    if _is_sqlite(settings) and not sqlite.database_file(settings).exists():
        return None
    with _engine(settings) as engine, engine.connect() as connection:
        return revision_of(connection)


def head() -> str:
    """The revision that this release needs."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise LookupError("this installation holds no migrations")
    return revision


def revision_of(connection: Connection) -> str | None:
    """The revision of the database behind a connection."""
    return MigrationContext.configure(connection).get_current_revision()


async def require_current(database: Database) -> None:
    """Raise SchemaOutdated, which says what to run, unless the database is at this release's revision."""
    found, wanted = await database.read(revision_of), head()
    if found != wanted:
        raise SchemaOutdated(found, wanted)


def _config() -> Config:
    """Nothing but where the scripts are: they are part of the package."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    return config


def _is_sqlite(settings: DatabaseSettings) -> bool:
    return settings.address.drivername == SQLITE


@contextmanager
def _alone(settings: DatabaseSettings) -> Iterator[Connection]:
    """A transaction beside which nobody else migrates; on SQLite nobody else writes."""
    with _engine(settings) as engine, _turn(settings), engine.begin() as connection:
        if not _is_sqlite(settings):
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        yield connection


@contextmanager
def _turn(settings: DatabaseSettings) -> Iterator[None]:
    if not _is_sqlite(settings):
        yield
        return
    file = sqlite.database_file(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    turns = WriteTurns(file)
    try:
        with turns.turn(time.monotonic() + _PATIENCE.total_seconds()):
            yield
    finally:
        turns.close()


@contextmanager
def _engine(settings: DatabaseSettings) -> Iterator[Engine]:
    engine = sqlite.writing_engine(settings) if _is_sqlite(settings) else postgres.writing_engine(settings)
    try:
        yield engine
    except SQLAlchemyError as error:
        raise_translated(error)
    finally:
        engine.dispose()
