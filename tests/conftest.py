"""Fixtures for every test: real servers, started at their first use and stopped at the end of the run."""

from collections.abc import Iterator

import pytest

from shared.messaging.local_server import LocalNatsServer
from tests.support.nats import remove_streams
from tests.support.postgres import LocalPostgres


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests and fixtures run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """A running PostgreSQL; a test asks it for a database of its own."""
    with LocalPostgres() as server:
        yield server


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNatsServer]:
    """A running nats-server for the whole run. A test that kills one starts one of its own."""
    with LocalNatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def nats_url(nats_server: LocalNatsServer) -> str:
    """The address of a nats-server that holds no stream yet."""
    remove_streams(nats_server.url)
    return nats_server.url
