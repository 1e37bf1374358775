"""A broker of the test's own, to kill, to freeze and to rob, with everything around it."""

import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from services.worker.main import assembled
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.messaging.connection import Connection
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.settings import MessagingSettings
from tests.integration.projector.conftest import Stage
from tests.support.messaging import connected, messaging_settings
from tests.support.worker import Place, quick_worker

ACK_WAIT = timedelta(seconds=2)
FILES = 1000
"""Objects that are there before anybody asks for them."""


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """A process that stands still meanwhile, as on a machine that swaps or stalls."""
    os.kill(pid, signal.SIGSTOP)
    try:
        while not all(_stands(thread) for thread in Path(f"/proc/{pid}/task").iterdir()):
            time.sleep(0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def rob(server: LocalNatsServer, store: Path) -> None:
    """Kill a broker, and bring it back with nothing of what it held."""
    server.kill()
    for entry in store.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
    server.start()


@pytest.fixture
async def stage(database: Database, nats_url: str) -> AsyncIterator[Stage]:
    """A stage on the broker that all tests share, for those that only change what is in it."""
    async with connected(messaging_settings(nats_url)) as connection:
        stage = Stage(database, connection, nats_url)
        yield stage
        await stage.stop()


def _stands(thread: Path) -> bool:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalNatsServer]:
    """A nats-server of the test's own."""
    with LocalNatsServer(tmp_path / "nats") as server:
        yield server


@pytest.fixture
def messaging(server: LocalNatsServer) -> MessagingSettings:
    """How it is reached; a command that nobody settles comes again soon."""
    return messaging_settings(server.url, ack_wait=ACK_WAIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A database, a projector that can be started, and workers of the real kind, on a broker that may be broken."""

    stage: Stage
    place: Place

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        """A worker in this process."""
        async with assembled(self.place.settings(quick_worker()), CollectorRegistry()) as worker:
            await worker.app.start()
            yield
            await worker.app.stop()


@asynccontextmanager
async def ground_on(
    database: Database, connection: Connection, settings: MessagingSettings, root: Path
) -> AsyncIterator[Ground]:
    """Everything but a projector and a worker, on a broker where all is declared."""
    place = Place(root=root, messaging=settings)
    folder = place.objects / "objects" / "00"
    folder.mkdir(parents=True)
    content = folder / "content"
    content.write_bytes(b"The pump is greased every year.")
    for number in range(FILES):
        (folder / str(number)).hardlink_to(content)
    stage = Stage(database, connection, settings.url.get_secret_value())
    stage.messaging = settings
    yield Ground(stage=stage, place=place)
    await stage.stop()


@pytest.fixture
async def ground(
    sqlite: DatabaseSettings,
    opened: Callable[[DatabaseSettings], Database],
    messaging: MessagingSettings,
    tmp_path: Path,
) -> AsyncIterator[Ground]:
    """The ground on a server of its own."""
    async with connected(messaging) as connection, ground_on(opened(sqlite), connection, messaging, tmp_path) as ground:
        yield ground
