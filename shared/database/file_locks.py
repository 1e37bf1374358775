"""Turns of the processes that write one SQLite file, by two locks on files beside it.

A process takes `gate`, then `write`, then lets go of `gate`; after its commit it lets go of `write`. Only
one process at a time tries for `write`, so the one that has just written cannot snatch it again.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.domain.errors import StoreUnavailable

_FIRST_PAUSE = 0.0001
_LONGEST_PAUSE = 0.001
"""Seconds between two tries; a turn is 15 ms at most."""


class WriteTurns:
    """The two locks of one database file. One thread of a process uses them."""

    def __init__(self, database: Path) -> None:
        self._gate = _FileLock(database.with_name(f"{database.name}.gate"))
        self._write = _FileLock(database.with_name(f"{database.name}.write"))

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Hold the right to write; StoreUnavailable when it did not come by `deadline` (`time.monotonic`)."""
        with self._gate.held(deadline):
            self._write.take(deadline)
        try:
            yield
        finally:
            self._write.release()

    def close(self) -> None:
        """Close both files."""
        self._gate.close()
        self._write.close()


class _FileLock:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    @contextmanager
    def held(self, deadline: float) -> Iterator[None]:
        self.take(deadline)
        try:
            yield
        finally:
            self.release()

    def take(self, deadline: float) -> None:
        """It is tried again and again, since waiting for a lock knows no time limit."""
        pause = _FIRST_PAUSE
        while not self._try():
            if time.monotonic() >= deadline:
                raise StoreUnavailable("The database is busy: other processes have been writing for too long.")
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def release(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _try(self) -> bool:
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise StoreUnavailable("The database's folder cannot be written.") from error
        return True
