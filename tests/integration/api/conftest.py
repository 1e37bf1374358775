"""An api on a fresh database for each test, copied from one that was migrated once."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.api.limits.settings import LimitSettings
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from shared.telemetry.stamps import new_id
from tests.integration.api.harness import NO_LIMITS, Gateway, running_gateway
from tests.support.postgres import LocalPostgres

TEMPLATE = "knowgate_api_template"


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with every table."""
    path = tmp_path_factory.mktemp("migrated") / "knowgate.db"
    upgrade(DatabaseSettings(url=SecretStr(f"sqlite:///{path}")))
    return path


@pytest.fixture
def limits() -> LimitSettings:
    """How much a tenant may ask for; a test that is about it gives its own."""
    return NO_LIMITS


@pytest.fixture
def fresh(migrated: Path, tmp_path: Path) -> DatabaseSettings:
    """A SQLite database with every table that nobody has used."""
    path = shutil.copy(migrated, tmp_path / "knowgate.db")
    return DatabaseSettings(url=SecretStr(f"sqlite:///{path}"), readers=2)


@pytest.fixture
async def gateway(fresh: DatabaseSettings, tmp_path: Path, limits: LimitSettings) -> AsyncIterator[Gateway]:
    """The api under test."""
    async with running_gateway(fresh, tmp_path, limits) as running:
        yield running


@pytest.fixture(scope="session")
def template(postgres: LocalPostgres) -> str:
    """The name of an empty PostgreSQL database with every table."""
    upgrade(DatabaseSettings(url=SecretStr(postgres.create_database(TEMPLATE))))
    return TEMPLATE


@pytest.fixture(params=["sqlite", "postgresql"])
async def either(request: pytest.FixtureRequest, tmp_path: Path, limits: LimitSettings) -> AsyncIterator[Gateway]:
    """The api on a fresh SQLite database, then on a fresh PostgreSQL database."""
    if request.param == "sqlite":
        settings: DatabaseSettings = request.getfixturevalue("fresh")
    else:
        postgres: LocalPostgres = request.getfixturevalue("postgres")
        template: str = request.getfixturevalue("template")
        url = postgres.create_database(new_id("api"), template=template)
        settings = DatabaseSettings(url=SecretStr(url), readers=2)
    async with running_gateway(settings, tmp_path, limits) as running:
        yield running
