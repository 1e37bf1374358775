"""How a child confines itself before it reads anything: it dies with its parent and stays within its limits."""

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1
_MAX_OPEN_FILES = 256


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends; where it cannot, the closed pipe ends it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent has ended already")
    # Ctrl-C reaches the whole group; ending the children is the parent's part.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def limit_resources(memory_bytes: int) -> None:
    """Bound the address space; forbid core files and writing to any file."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = min(_MAX_OPEN_FILES, hard) if hard != resource.RLIM_INFINITY else _MAX_OPEN_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def peak_memory_bytes() -> int:
    """The most memory that this program has ever held.

    Linux's `ru_maxrss` begins with what the process held that forked, however large that was.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent. What libraries print goes to standard error, where it cannot break a frame."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return sys.stdin.buffer, replies
