"""Connections to the index file: one that writes, a few that only read."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Literal

import apsw

from shared.providers.embedded.index.errors import IndexBusy, IndexMissing
from shared.providers.embedded.index.schema import check_marks, create_tables

BUSY_TIMEOUT = timedelta(seconds=10)
MAPPED_BYTES = 1 << 30
CACHED_KIBIBYTES = 32_768
WAL_LIMIT_BYTES = 64 << 20


def open_for_writing(path: Path, embedder: str, dimensions: int) -> apsw.Connection:
    """Open the index, making it if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = apsw.Connection(str(path))
    try:
        _tune(db)
        db.pragma("journal_mode", "wal")
        # What a worker reports as done must outlast a power cut, so each commit reaches the disk.
        db.pragma("synchronous", "full")
        db.pragma("journal_size_limit", WAL_LIMIT_BYTES)
        with translated(), transaction(db, "IMMEDIATE"):
            create_tables(db, embedder, dimensions)
        check_marks(db, embedder)
    except BaseException:
        db.close()
        raise
    return db


def open_for_reading(path: Path, embedder: str) -> apsw.Connection:
    """Open an index that must exist. The log's shared memory needs a writable file, so it is SQL that is held back."""
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.CantOpenError as error:
        raise IndexMissing("There is no search index.") from error
    try:
        _tune(db)
        db.pragma("query_only", True)
        check_marks(db, embedder)
    except BaseException:
        db.close()
        raise
    return db


def _tune(db: apsw.Connection) -> None:
    db.set_busy_timeout(int(BUSY_TIMEOUT.total_seconds() * 1000))
    db.pragma("mmap_size", MAPPED_BYTES)
    db.pragma("cache_size", -CACHED_KIBIBYTES)


@contextmanager
def transaction(db: apsw.Connection, mode: Literal["IMMEDIATE", "DEFERRED"]) -> Iterator[None]:
    """Commit at the end, roll back on an error.

    Not apsw's own context manager: that one holds the interpreter's lock while it waits for another writer or for the
    disk, and with it every thread and the event loop.
    """
    db.execute(f"BEGIN {mode}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # also after a commit that failed: the next transaction could not begin otherwise
            db.execute("ROLLBACK")
        raise


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's own troubles into errors that say whether to try again."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError, apsw.IOError, apsw.FullError) as error:
        raise IndexBusy(f"The search index could not be used: {type(error).__name__}.") from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError) as error:
        raise IndexMissing(f"The search index cannot be read: {type(error).__name__}.") from error


class ReadConnections:
    """Read connections for any number of threads, opened when needed and kept for the next reader."""

    def __init__(self, path: Path, embedder: str) -> None:
        self._path = path
        self._embedder = embedder
        self._idle: LifoQueue[tuple[apsw.Connection, int]] = LifoQueue()

    @contextmanager
    def borrow(self) -> Iterator[apsw.Connection]:
        """A connection for one thread, inside a read transaction: all it sees is of one moment."""
        with translated():
            db, inode = self._take()
            try:
                with transaction(db, "DEFERRED"):
                    yield db
            except BaseException:
                db.close()
                raise
            self._idle.put((db, inode))

    def _take(self) -> tuple[apsw.Connection, int]:
        """A file that was replaced under its name leaves the old connections behind."""
        try:
            inode = self._path.stat().st_ino
        except FileNotFoundError as error:
            self.close()
            raise IndexMissing("There is no search index.") from error
        while True:
            try:
                db, opened = self._idle.get_nowait()
            except Empty:
                return open_for_reading(self._path, self._embedder), inode
            if opened == inode:
                return db, inode
            db.close()

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait()[0].close()
            except Empty:
                return
