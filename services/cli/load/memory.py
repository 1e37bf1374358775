"""How much memory processes hold, with all their descendants."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1024 * 1024
EVERY_SECONDS = 0.25


def resident_mib(pids: Sequence[int]) -> float:
    """The resident memory of these processes and all their descendants."""
    parents = _parents()
    family = {pid for pid in parents if _belongs_to(pid, set(pids), parents)}
    return sum(_resident_pages(pid) for pid in family) * PAGE / MIB


class Peak:
    """The highest of several looks."""

    def __init__(self, measure: Callable[[], float]) -> None:
        self._measure = measure
        self._stopped = threading.Event()
        self.before = measure()
        self.mib = self.before

    @contextmanager
    def watched(self) -> Iterator["Peak"]:
        """Look again and again inside the `with` block."""
        thread = threading.Thread(target=self._look, name="memory", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            thread.join()

    def _look(self) -> None:
        while True:
            self.mib = max(self.mib, self._measure())
            if self._stopped.wait(EVERY_SECONDS):
                return


def _parents() -> dict[int, int]:
    found = {}
    for entry in PROC.iterdir():
        if entry.name.isdecimal() and (fields := _stat(int(entry.name))):
            found[int(entry.name)] = int(fields[1])
    return found


def _belongs_to(pid: int, roots: set[int], parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid in roots:
            return True
        pid = parents[pid]
    return False


def _stat(pid: int) -> list[str]:
    """The fields after the program's name: state, parent, and so on; none when the process has ended."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _resident_pages(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1])
    except OSError:
        return 0
