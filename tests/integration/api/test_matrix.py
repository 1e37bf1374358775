"""The authorisation walk, on both databases."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from shared.contracts.admin import ADMIN_ROUTES
from shared.contracts.files import FILE_GET, FILE_UPLOAD
from shared.contracts.routes import ROUTES
from shared.contracts.transition_events import EVENTS_FOLLOW
from shared.contracts.uploads import UPLOAD_ROUTES
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from tests.integration.api.harness import Gateway, running_gateway
from tests.matrix.people import Role
from tests.matrix.running import unplaced, walk_everything
from tests.support.postgres import LocalPostgres

ROLES = (Role.MAINTAINER, Role.GATEWAY_ADMIN)
"""`make matrix` walks in every role; these two are allowed most, so they could see most."""


@pytest.fixture(params=["sqlite", "postgresql"])
async def either(request: pytest.FixtureRequest, migrated: Path, tmp_path: Path) -> AsyncIterator[Gateway]:
    """The api on a fresh SQLite database, then on a fresh PostgreSQL database."""
    if request.param == "sqlite":
        settings = DatabaseSettings(url=SecretStr(f"sqlite:///{shutil.copy(migrated, tmp_path / 'knowgate.db')}"))
    else:
        postgres: LocalPostgres = request.getfixturevalue("postgres")
        settings = DatabaseSettings(url=SecretStr(postgres.create_database("knowgate_matrix")))
        upgrade(settings)
    async with running_gateway(settings, tmp_path) as running:
        yield running


async def test_nobody_sees_or_does_what_they_may_not(either: Gateway) -> None:
    walk = await walk_everything(either, ROLES)

    assert walk.leaks == []
    assert walk.tools >= {route.tool for route in ROUTES}
    assert walk.cases >= 1500


async def test_a_route_that_nobody_has_given_a_place_is_missed(gateway: Gateway) -> None:
    every = {route.tool for route in (*ROUTES, *ADMIN_ROUTES, *UPLOAD_ROUTES, FILE_UPLOAD, FILE_GET, EVENTS_FOLLOW)}

    assert unplaced(gateway.app, every) == set()
    assert unplaced(gateway.app, every - {"knowledge_space_get", "file_upload_end"}) == {
        "knowledge_space_get",
        "file_upload_end",
    }
