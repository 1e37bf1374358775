"""Reads that are over sooner than a thread would have begun them.

A single row by its key takes SQLite some dozens of microseconds. Handing that to a thread and back costs several
times as much, because both threads want the interpreter, so such a read runs where it is asked for. PostgreSQL
answers over a network: there the reader threads are the place.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from shared.database.database import Database
from shared.database.settings import SQLITE, DatabaseSettings
from shared.database.sqlite import reading_engine
from shared.database.translation import raise_translated

T = TypeVar("T")

PATIENCE = timedelta(milliseconds=250)
"""How long a caller may be held up by a lock. Readers of SQLite wait for writers only while a log is recovered."""


class QuickReads(Protocol):
    """Runs one quick statement that reads."""

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection that cannot write."""


class ReadsOnTheSpot:
    """Reads on a connection of its own, in the thread that asks; it is used by one thread alone."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._engine = reading_engine(settings.model_copy(update={"lock_timeout": PATIENCE}))
        self._connection: Connection | None = None

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` now; the event loop stands meanwhile."""
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            return work(self._connection)
        except SQLAlchemyError as error:
            raise_translated(error)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()


@asynccontextmanager
async def open_quick_reads(database: Database, settings: DatabaseSettings) -> AsyncIterator[QuickReads]:
    """The fastest way to read a row of this database; it is used by the event loop that opens it."""
    if database.dialect != SQLITE:
        yield database
        return
    reads = ReadsOnTheSpot(settings)
    try:
        yield reads
    finally:
        reads.close()
