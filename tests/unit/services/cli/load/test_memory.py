"""Memory is that of a process and all that descends from it."""

import os
import subprocess
import sys

from services.cli.load.memory import Peak, resident_mib

GRANDCHILD = "x = bytearray(64 << 20); print(1, flush=True); input()"
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])"


def test_a_process_counts_with_its_descendants() -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"1\n"
    try:
        assert resident_mib([child.pid]) > 64
    finally:
        child.communicate(b"\n")
    assert resident_mib([child.pid]) == 0


def test_a_process_is_counted_once_though_its_parent_is_asked_for_too() -> None:
    alone = resident_mib([os.getpid()])

    assert resident_mib([os.getpid(), os.getpid()]) < alone * 1.5


def test_the_peak_is_the_highest_look_and_never_below_the_first() -> None:
    looks = iter([100.0, 130.0] + [90.0] * 1000)
    peak = Peak(lambda: next(looks))

    with peak.watched():
        pass

    assert (peak.before, peak.mib) == (100.0, 130.0)
