"""The moves of state on a real database of either kind, with a clock that tests set and ids that count."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from pydantic import SecretStr
from shared.database.migrate import upgrade

from shared.database.database import Database, open_database
from shared.database.settings import DatabaseSettings
from tests.integration.lifecycle.bench import Bench


_NUMBERS = count(1)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/knowgate.sqlite"
    url: str = request.getfixturevalue("postgres").create_database(f"moves_{next(_NUMBERS)}")
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The database with this release's tables."""
    settings = DatabaseSettings(url=SecretStr(database_url))
    upgrade(settings)
    opened = open_database(settings)
    yield opened
    await opened.close()


@pytest.fixture
def ticking() -> Iterator[datetime]:
    """Times that advance by a second."""
    return (datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=n) for n in count())


@pytest.fixture
def bench(database: Database) -> Bench:
    """The moves, with a clock and ids of the test's own."""
    return Bench(database)
