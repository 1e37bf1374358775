"""A bound child: started, watched, stopped, and never alive after its owner."""

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from shared.messaging.bound_child import BoundChild
from tests.support.children import is_alive, wait_until_gone

SLEEP = ["/bin/sleep", "60"]
LONG = timedelta(seconds=10)

OWNER = """
import sys
from shared.messaging.bound_child import BoundChild
print(BoundChild(["/bin/sleep", "60"]).pid, flush=True)
sys.stdin.read()
"""

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


def test_a_child_ends_when_its_owner_is_killed() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        assert is_alive(child)
        owner.kill()

    wait_until_gone(child)


def test_a_child_outlives_the_thread_that_asked_for_it() -> None:
    started: list[BoundChild] = []
    asking = threading.Thread(target=lambda: started.append(BoundChild(SLEEP)))
    asking.start()
    asking.join()
    (child,) = started

    assert child.wait(timedelta(milliseconds=300)) is False
    child.kill()


def test_a_child_is_stopped_by_the_signal_it_is_asked_to_stop_by() -> None:
    child = BoundChild(SLEEP)
    child.stop(within=LONG, by=signal.SIGINT)

    assert (child.is_running(), child.exit_code) == (False, -signal.SIGINT)


def test_a_child_that_ignores_the_signal_is_killed_when_time_is_up(tmp_path: Path) -> None:
    printed = tmp_path / "printed"
    child = BoundChild([sys.executable, "-c", STUBBORN], output=printed)
    while printed.read_text() != "ready\n":
        assert child.is_running()

    child.stop(within=timedelta(milliseconds=50))

    assert child.exit_code == -signal.SIGKILL


def test_a_childs_exit_code_and_output_are_kept(tmp_path: Path) -> None:
    child = BoundChild(["/bin/sh", "-c", "echo $WORD; exit 7"], output=tmp_path / "log", environment={"WORD": "hello"})

    assert child.wait(LONG) is True
    assert child.exit_code == 7
    assert (tmp_path / "log").read_text() == "hello\n"


def test_a_child_that_cannot_be_started_is_an_error_of_its_owner(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        BoundChild(SLEEP, output=tmp_path / "no such folder" / "log")


def test_ctrl_c_in_the_terminal_does_not_reach_a_child() -> None:
    child = BoundChild(SLEEP)
    try:
        assert os.getpgid(child.pid) != os.getpgid(0)
    finally:
        child.kill()
