"""One child process with pipes to it. It is ended by SIGKILL: a child has nothing to save."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from shared.providers.embedded.children.framing import Frame, FrameBroken, receive_frame

_PIPE_BYTES = 4 << 20
_ENDING = timedelta(seconds=2)
"""What a child may take to be gone after its pipe has closed."""

_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


def child_environment() -> dict[str, str]:
    """What a child may know: where its modules lie, and none of the settings and secrets of its parent."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    # One thread for linear algebra: with several, a model on few cores becomes ten times slower.
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    return kept | threads | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}


class Child:
    """A started child."""

    def __init__(self, handle: asyncio.subprocess.Process) -> None:
        self._handle = handle
        if handle.stdin is None or handle.stdout is None:
            raise ValueError("a child is spoken to through its pipes")
        self._requests = handle.stdin
        self._replies = handle.stdout
        self.served = 0

    @classmethod
    async def start(cls, module: str, arguments: Sequence[int] = ()) -> "Child":
        """Run a module of ours; its first argument is our pid."""
        handle = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            *map(str, (os.getpid(), *arguments)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment(),
            limit=_PIPE_BYTES,
        )
        return cls(handle)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._handle.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return self._handle.returncode is None

    async def send(self, frame: bytes) -> None:
        """Write one frame; FrameBroken when the child has ended."""
        try:
            self._requests.write(frame)
            await self._requests.drain()
        except ConnectionError as error:
            raise FrameBroken("the child ended") from error

    async def receive(self) -> Frame:
        """Wait for the next frame."""
        return await receive_frame(self._replies)

    async def ran_out_of_memory(self) -> bool:
        """Whether it ended as a process does that takes too much memory: killed by the system, or by its own hand.

        Native libraries abort when they are refused memory. A child that goes on running did not.
        """
        try:
            async with asyncio.timeout(_ENDING.total_seconds()):
                return await self._handle.wait() in (-signal.SIGKILL, -signal.SIGABRT)
        except TimeoutError:
            return False

    async def kill(self) -> None:
        """End it and wait until it is gone."""
        if self._handle.returncode is None:
            with suppress(ProcessLookupError):
                self._handle.kill()
        await self._handle.wait()
        self._requests.close()
