"""The moves of state on a real database of either kind."""

import pytest

from shared.database.database import Database
from tests.integration.lifecycle.bench import Bench


@pytest.fixture
def bench(database: Database) -> Bench:
    """The moves, with a clock and ids of the test's own."""
    return Bench(database)
