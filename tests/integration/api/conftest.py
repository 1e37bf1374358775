"""An api on a fresh SQLite database for each test, copied from one that was migrated once."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from tests.integration.api.harness import Gateway, running_gateway


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with every table."""
    path = tmp_path_factory.mktemp("migrated") / "knowgate.db"
    upgrade(DatabaseSettings(url=SecretStr(f"sqlite:///{path}")))
    return path


@pytest.fixture
async def gateway(migrated: Path, tmp_path: Path) -> AsyncIterator[Gateway]:
    """The api under test."""
    path = tmp_path / "knowgate.db"
    shutil.copy(migrated, path)
    settings = DatabaseSettings(url=SecretStr(f"sqlite:///{path}"), readers=2)
    async with running_gateway(settings, tmp_path) as running:
        yield running
