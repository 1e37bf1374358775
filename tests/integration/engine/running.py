"""Which children of this process run."""

import os
from pathlib import Path

from tests.support.children import is_alive


def children(module: str | None = None) -> list[int]:
    """The running children of this process, or those of them that serve a module."""
    lists = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for line in lists for pid in line.read_text().split()]
    return [pid for pid in pids if is_alive(pid) and (module is None or module in _command_line(pid))]


def _command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except FileNotFoundError:
        return []
