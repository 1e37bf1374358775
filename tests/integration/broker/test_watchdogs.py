"""A worker that can get no more commands ends by itself and is started again; one that has no cause to does not."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from services.cli.supervision.signals import StopRequests
from services.cli.supervision.supervisor import Stage, Supervisor
from services.cli.supervision.units import Service, ServiceUnit, Unit
from shared.contracts.events import StepSucceeded
from shared.messaging.bound_child import BoundChild
from shared.messaging.local_server import LocalNatsServer, find_program, write_configuration
from shared.messaging.settings import MessagingSettings
from shared.providers.scripted.script import Call, Script
from tests.support.eventually import until
from tests.support.worker import Commands, Desk, Place, desk_at

ROOT = Path(__file__).parents[3]
SABOTAGED = "tests.integration.broker.sabotaged_worker"
WORKER = "services.worker.main"
PATIENCE = timedelta(seconds=2)
WITHIN = timedelta(seconds=60)
STOPS_WITHIN = timedelta(seconds=20)


@dataclass(slots=True)
class Seen:
    """What the supervisor tells of its child."""

    endings: list[str] = field(default_factory=list)

    def started(self, unit: Unit) -> None:
        """Nothing."""

    def ended(self, unit: Unit, wait: timedelta) -> None:
        """Remember how."""
        self.endings.append(unit.ending())

    def stopping(self, unit: Unit) -> None:
        """Nothing."""

    def stopped(self, unit: Unit) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervised:
    """A worker that is started again when it ends."""

    unit: ServiceUnit
    seen: Seen

    def has_started(self) -> bool:
        """Whether the present run takes commands."""
        return self.unit.log.exists() and "worker.started" in self.unit.log.read_text()


@contextmanager
def supervised(place: Place, module: str, **variables: str) -> Iterator[Supervised]:
    """A worker under a supervisor of its own, until the end of the block."""
    environment = {
        **place.environment(),
        "PYTHONPATH": str(ROOT),
        "KNOWGATE_WORKER_WATCHDOG_PATIENCE": str(PATIENCE.total_seconds()),
        **variables,
    }
    unit = ServiceUnit(Service(name="worker", module=module, environment=environment, log=place.root / "worker.log"))
    requests, seen = StopRequests(), Seen()
    stage = Stage(units=[unit], stop_within=STOPS_WITHIN)
    supervisor = Supervisor([stage], requests=requests, watcher=seen)

    def supervise() -> None:
        supervisor.start()
        supervisor.ready()
        supervisor.watch()
        supervisor.stop()

    thread = threading.Thread(target=supervise)
    thread.start()
    try:
        yield Supervised(unit=unit, seen=seen)
    finally:
        requests.add()
        thread.join()


@pytest.mark.parametrize("way", ["freeze", "silence"])
async def test_a_worker_that_can_get_nothing_while_commands_wait_is_ended_and_started_again(
    messaging: MessagingSettings, tmp_path: Path, way: str
) -> None:
    place = Place(root=tmp_path, messaging=messaging)
    async with desk_at(place) as desk:
        with supervised(place, SABOTAGED, SABOTAGE=way) as worker:
            await until(worker.has_started, within=WITHIN)
            os.kill(worker.unit.pid, signal.SIGUSR1)
            await asyncio.sleep(2 * messaging.fetch_timeout.total_seconds())
            await desk.issue(Commands().upload())
            await until(lambda: bool(worker.seen.endings), within=WITHIN)
            assert isinstance(await desk.ending(), StepSucceeded)
            assert worker.seen.endings == ["code 76"]
    assert '"event":"messaging.watchdog.tripped"' in (tmp_path / "worker.1.log").read_text()


async def test_a_worker_that_is_idle_or_has_its_hands_full_goes_on(
    messaging: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=messaging)
    async with desk_at(place) as desk:
        desk.provider.tell("pump.txt", Script(ingest_time=3 * PATIENCE))
        with supervised(place, WORKER, KNOWGATE_WORKER_INGEST_SLOTS="1") as worker:
            await until(worker.has_started, within=WITHIN)
            await asyncio.sleep(2 * PATIENCE.total_seconds())
            for number in (1, 2):
                await desk.issue(Commands(number=number).reindex())
            await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
            assert all(isinstance(ending, StepSucceeded) for ending in await endings_of(desk, 2))
            assert worker.seen.endings == []


async def endings_of(desk: Desk, number: int) -> list[object]:
    async with asyncio.timeout(WITHIN.total_seconds()):
        return list(await desk.endings(number))


async def test_a_worker_whose_connection_is_refused_for_good_ends_and_is_started_again(
    server: LocalNatsServer, messaging: MessagingSettings, tmp_path: Path
) -> None:
    """FastStream would spin on the closed connection, deaf to signals."""
    place = Place(root=tmp_path, messaging=messaging)
    port = int(server.url.rpartition(":")[2])
    async with desk_at(place) as desk:
        await desk.issue(Commands().upload())
    with supervised(place, WORKER) as worker:
        await until(worker.has_started, within=WITHIN)
        server.kill()
        with another_server(tmp_path / "other", port):
            await until(lambda: bool(worker.seen.endings), within=WITHIN)
            assert worker.seen.endings[0] == "code 75"
            await until(lambda: len(worker.seen.endings) > 1, within=WITHIN)
            assert worker.seen.endings[1] == "code 78"
        server.start()
        async with desk_at(place) as desk:
            await desk.issue(Commands(number=2).upload())
            assert all(isinstance(ending, StepSucceeded) for ending in await endings_of(desk, 2))


@contextmanager
def another_server(directory: Path, port: int) -> Iterator[None]:
    """A server at the same address that knows another token."""
    directory.mkdir()
    configuration = directory / "another.conf"
    configuration.write_text(write_configuration(directory=directory, token="another", port=port))
    child = BoundChild([str(find_program()), "-c", str(configuration)], output=directory / "log")
    try:
        yield
    finally:
        child.kill()
