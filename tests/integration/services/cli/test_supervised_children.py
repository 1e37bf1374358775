"""Real children: given settings alone, started again after a kill, stopped in order, gone with their launcher."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from services.cli.supervision.signals import StopRequests
from services.cli.supervision.supervisor import Stage, Supervisor
from services.cli.supervision.units import Service, ServiceUnit, Unit
from shared.messaging.bound_child import BoundChild
from tests.support.children import is_alive, wait_until_gone

PATIENCE = timedelta(seconds=20)

CHILD = """
import os, pathlib, signal, sys, time
def stop(number, frame):
    if os.environ.get("STUBBORN"):
        return
    print("stopped in order", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("settings", os.environ.get("KNOWGATE_API_PORT"), os.environ.get("HOME"), flush=True)
while True:
    time.sleep(0.01)
"""

LAUNCHER = """
import sys, time
from pathlib import Path
from services.cli.supervision.units import Service, ServiceUnit
variables = {"PYTHONPATH": sys.argv[1]}
unit = ServiceUnit(Service(name="child", module="fake_child", environment=variables, log=Path(sys.argv[2])))
unit.start()
print(unit.pid, flush=True)
time.sleep(60)
"""


class Silent:
    """A watcher that shows nothing."""

    def started(self, unit: Unit) -> None:
        """Nothing."""

    def ended(self, unit: Unit, wait: timedelta) -> None:
        """Nothing."""

    def stopping(self, unit: Unit) -> None:
        """Nothing."""

    def stopped(self, unit: Unit) -> None:
        """Nothing."""


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """A directory with a module that stands for a service."""
    (tmp_path / "fake_child.py").write_text(CHILD)
    return tmp_path


def unit(modules: Path, name: str, **variables: str) -> ServiceUnit:
    environment = {"PYTHONPATH": str(modules), "KNOWGATE_API_PORT": "8081", **variables}
    return ServiceUnit(Service(name=name, module="fake_child", environment=environment, log=modules / f"{name}.log"))


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def is_up(child: ServiceUnit) -> bool:
    return child.is_running() and child.log.exists() and "settings" in child.log.read_text()


def supervised(requests: StopRequests, *stages: Stage) -> threading.Thread:
    """A supervisor in a thread, with all its stages up."""
    supervisor = Supervisor(stages, requests=requests, watcher=Silent())

    def supervise() -> None:
        supervisor.start()
        supervisor.ready()
        supervisor.watch()
        supervisor.stop()

    thread = threading.Thread(target=supervise)
    thread.start()
    children = [child for stage in stages for child in stage.units if isinstance(child, ServiceUnit)]
    wait_until(lambda: all(is_up(child) for child in children))
    return thread


def test_a_child_gets_its_settings_and_nothing_of_ours(modules: Path) -> None:
    child = unit(modules, "api")
    child.start()
    try:
        wait_until(lambda: is_up(child))
        assert child.log.read_text() == "settings 8081 None\n"
    finally:
        child.kill()


def test_a_killed_child_is_started_again_with_a_log_of_its_own(modules: Path) -> None:
    requests, child = StopRequests(), unit(modules, "worker")
    thread = supervised(requests, Stage(units=[child], stop_within=timedelta(seconds=5)))
    first = child.pid

    os.kill(first, signal.SIGKILL)
    wait_until(lambda: child.pid != first and is_up(child))
    requests.add()
    thread.join(PATIENCE.total_seconds())

    assert not thread.is_alive()
    assert not child.is_running()
    assert (modules / "worker.1.log").read_text() == "settings 8081 None\n"
    assert child.log.read_text() == "settings 8081 None\nstopped in order\n"


def test_a_child_that_does_not_stop_is_killed_at_its_deadline(modules: Path) -> None:
    requests, child = StopRequests(), unit(modules, "worker", STUBBORN="1")
    thread = supervised(requests, Stage(units=[child], stop_within=timedelta(milliseconds=200)))

    requests.add()
    thread.join(PATIENCE.total_seconds())

    assert not thread.is_alive()
    assert child.ending() == "signal 9"


def test_a_second_request_kills_what_will_not_stop(modules: Path) -> None:
    requests = StopRequests()
    children = [unit(modules, "projector", STUBBORN="1"), unit(modules, "worker", STUBBORN="1")]
    thread = supervised(requests, *(Stage(units=[child], stop_within=timedelta(minutes=5)) for child in children))

    requests.add()
    requests.add()
    thread.join(PATIENCE.total_seconds())

    assert not thread.is_alive()
    assert [child.ending() for child in children] == ["signal 9", "signal 9"]


def test_children_end_with_a_launcher_that_is_killed(modules: Path) -> None:
    printed = modules / "launcher.log"
    launcher = BoundChild(
        [sys.executable, "-c", LAUNCHER, str(modules), str(modules / "child.log")],
        output=printed,
        directory=Path.cwd(),
        environment=os.environ,
    )
    wait_until(lambda: printed.read_text().strip().isdecimal())
    child = int(printed.read_text())
    wait_until(lambda: (modules / "child.log").exists() and "settings" in (modules / "child.log").read_text())
    assert is_alive(child)

    launcher.kill()

    wait_until_gone(child)
