"""Quick reads: on the spot for SQLite, by the database's own readers for PostgreSQL."""

import shutil
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection

from shared.database.database import open_database
from shared.database.quick_reads import open_quick_reads
from shared.database.settings import DatabaseSettings
from shared.domain.errors import StoreUnavailable


def count(conn: Connection) -> tuple[int, int]:
    """How many answers are kept, and which thread looked."""
    found = conn.exec_driver_sql("SELECT count(*) FROM idempotency").scalar_one()
    return int(found), threading.get_ident()


def insert(conn: Connection) -> None:
    text = "INSERT INTO idempotency VALUES ('t', 's', 'r', 'k', 'd', 200, '{}', 0, 0)"
    conn.exec_driver_sql(text)


async def test_sqlite_is_read_on_the_spot_and_shows_what_was_just_committed(migrated: Path, tmp_path: Path) -> None:
    path = tmp_path / "knowgate.db"
    shutil.copy(migrated, path)
    settings = DatabaseSettings(url=SecretStr(f"sqlite:///{path}"))
    database = open_database(settings)
    async with open_quick_reads(database, settings) as reads:
        before = await reads.read(count)
        await database.write(insert)
        after = await reads.read(count)
        with pytest.raises(StoreUnavailable):
            await reads.read(insert)
    await database.close()

    here = threading.get_ident()
    assert (before, after) == ((0, here), (1, here))


async def test_postgresql_is_read_by_its_readers() -> None:
    settings = DatabaseSettings(url=SecretStr("postgresql://nobody@127.0.0.1:1/none"))
    database = open_database(settings)

    async with open_quick_reads(database, settings) as reads:
        assert reads is database

    await database.close()
