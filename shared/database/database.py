"""The database as everything above sees it: work on a connection, run whole in one transaction."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

from sqlalchemy import Connection

from shared.database.postgres import PostgresDatabase
from shared.database.settings import SQLITE, DatabaseSettings
from shared.database.sqlite import SqliteDatabase

T = TypeVar("T")


class Database(Protocol):
    """Runs work on connections.

    Work is run in a thread, and again from the start when its transaction was in somebody's way, so it has no
    effect but on the connection, and it neither commits nor rolls back. What it raises rolls it back and is
    raised to the caller; library errors arrive as StoreUnavailable or UniqueViolation. A caller that is
    cancelled while it waits does not know whether its work was committed.
    """

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which database it is."""

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; returns after its commit."""

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection that cannot write, each statement by itself: one statement, one moment."""

    def write_blocking(self, work: Callable[[Connection], T]) -> T:
        """`write` for callers without an event loop."""

    def read_blocking(self, work: Callable[[Connection], T]) -> T:
        """`read` for callers without an event loop."""

    async def close(self) -> None:
        """Finish what was begun and close every connection."""


def open_database(settings: DatabaseSettings) -> Database:
    """The database that the settings name. Nothing is connected before it is needed."""
    if settings.address.drivername == SQLITE:
        return SqliteDatabase(settings)
    return PostgresDatabase(settings)
