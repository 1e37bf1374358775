"""Whatever ends the launcher ends everything, and a second launcher is refused."""

import signal
import subprocess
import sys

import pytest

from services.cli.stack import Stack
from tests.e2e.family import descendants, wait_until_all_gone


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_everything_in_order(own_stack: Stack, number: signal.Signals) -> None:
    children = descendants(own_stack.launcher.pid)
    assert len(children) >= 4

    own_stack.stop(by=number)

    assert own_stack.launcher.exit_code == 0
    wait_until_all_gone(children)
    printed = own_stack.output.read_text()
    order = [printed.index(f"{name:<11} stopped") for name in ("api", "worker", "projector", "nats")]
    assert order == sorted(order)
    assert own_stack.home.read_record() is None


def test_a_launcher_that_is_killed_takes_everything_with_it(own_stack: Stack) -> None:
    children = descendants(own_stack.launcher.pid)

    own_stack.launcher.kill()

    wait_until_all_gone(children)


def test_a_home_that_is_up_is_not_brought_up_again(stack: Stack) -> None:
    command = [sys.executable, "-m", "services.cli.main", "up", "--home", str(stack.home.root), "--port", "0"]

    second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert second.returncode == 1
    assert f"is already up by process {stack.launcher.pid}, at {stack.record().url}" in second.stderr
    assert stack.launcher.is_running()
