"""What property tests on a real database share."""

from pathlib import Path

import pytest

from shared.database.migrate import upgrade
from tests.integration.conftest import sqlite_settings


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database that is copied for every life that is lived."""
    file = tmp_path_factory.mktemp("sqlite") / "template.db"
    upgrade(sqlite_settings(file))
    return file
