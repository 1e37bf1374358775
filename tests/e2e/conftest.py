"""Whole gateways in temporary homes: one that tests share, and ones of their own for those that break things."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.cli.stack import Stack
from tests.e2e.family import stack_of_its_own


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A whole gateway needs a moment to come up, and some tests bring it down."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A gateway for all tests that leave it whole."""
    with Stack(tmp_path_factory.mktemp("gateway") / "home") as stack:
        yield stack


@pytest.fixture
def own_stack(tmp_path: Path) -> Iterator[Stack]:
    """A gateway for one test that may kill parts of it. Nothing of it is left afterwards.

    A command whose worker was killed is delivered again sooner than usual: that is the longest wait of these tests.
    """
    with stack_of_its_own(tmp_path, {"KNOWGATE_NATS_ACK_WAIT": "10"}) as stack:
        yield stack
