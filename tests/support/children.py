"""Looking at other processes by number."""

import time
from datetime import timedelta
from pathlib import Path

PATIENCE = timedelta(seconds=10)


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def wait_until_gone(pid: int) -> None:
    """Return when the process has ended; TimeoutError if it does not."""
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while is_alive(pid):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {pid} still runs")
        time.sleep(0.005)
