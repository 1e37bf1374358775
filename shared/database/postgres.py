"""PostgreSQL: psycopg in sized pools of threads, each thread with a connection of its own."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Literal, TypeVar

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from shared.database.settings import DatabaseSettings
from shared.database.translation import is_conflict, is_lost_connection, raise_translated
from shared.domain.errors import StoreUnavailable

T = TypeVar("T")

_WAITS = (0.005, 0.02, 0.08, 0.32)
"""Seconds before a transaction that was in another one's way is run again; then it is given up."""

_PLANNING = (
    "-c jit=off",
    "-c random_page_cost=1.1",
    "-c enable_seqscan=off",
    "-c enable_hashjoin=off",
    "-c enable_mergejoin=off",
)
"""Every statement of ours begins at a few rows and follows indexes. The planner, whose averages are made of all
tenants together, is kept from reading whole tables because somebody else's space is large."""

_KEEPALIVES = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""A server that vanished without a word is noticed."""


class PostgresDatabase:
    """A database on a PostgreSQL server. Nothing is connected before it is needed."""

    dialect: Literal["postgresql"] = "postgresql"

    def __init__(self, settings: DatabaseSettings) -> None:
        self._patience = settings.lock_timeout.total_seconds()
        self._writers = ThreadPoolExecutor(settings.writers, thread_name_prefix="knowgate-database-writer")
        self._readers = ThreadPoolExecutor(settings.readers, thread_name_prefix="knowgate-database-reader")
        self._writing = writing_engine(settings)
        self._reading = _engine(settings, settings.readers, "AUTOCOMMIT", "-c default_transaction_read_only=on")

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; returns after its commit."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writers, self._write, work, time.monotonic())

    def write_blocking(self, work: Callable[[Connection], T]) -> T:
        """`write` for callers without an event loop."""
        return self._writers.submit(self._write, work, time.monotonic()).result()

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection that cannot write."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, work, time.monotonic())

    def read_blocking(self, work: Callable[[Connection], T]) -> T:
        """`read` for callers without an event loop."""
        return self._readers.submit(self._read, work, time.monotonic()).result()

    async def close(self) -> None:
        """Finish what was begun and close every connection."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        for threads in (self._writers, self._readers):
            threads.shutdown()
        for engine in (self._writing, self._reading):
            engine.dispose()

    def _write(self, work: Callable[[Connection], T], since: float) -> T:
        return self._insistently(lambda: _transact(self._writing, work), since)

    def _read(self, work: Callable[[Connection], T], since: float) -> T:
        return self._insistently(lambda: _look(self._reading, work), since)

    def _insistently(self, attempt: Callable[[], T], since: float) -> T:
        """Run again what was broken off for another transaction, and once what met a connection lost before."""
        if time.monotonic() - since > self._patience:
            raise StoreUnavailable
        waits = iter(_WAITS)
        may_reconnect = True
        while True:
            try:
                return attempt()
            except (SQLAlchemyError, StopIteration) as error:
                wait = next(waits, None) if is_conflict(error) else None
                if wait is None and not (may_reconnect and is_lost_connection(error)):
                    raise_translated(error)
                may_reconnect = may_reconnect and not is_lost_connection(error)
                time.sleep(wait or 0)


def _transact(engine: Engine, work: Callable[[Connection], T]) -> T:
    with engine.connect() as connection:
        transaction = connection.begin()
        value = work(connection)
        try:
            transaction.commit()
        except DBAPIError as error:
            if is_lost_connection(error):  # whether it was committed is not known, so it is not run again
                raise StoreUnavailable from error
            raise
        return value


def _look(engine: Engine, work: Callable[[Connection], T]) -> T:
    with engine.connect() as connection:
        return work(connection)


def writing_engine(settings: DatabaseSettings) -> Engine:
    """An engine for transactions; a lost update is prevented by row locks, not by the isolation level."""
    return _engine(settings, settings.writers, "READ COMMITTED")


def _engine(
    settings: DatabaseSettings, connections: int, isolation: Literal["AUTOCOMMIT", "READ COMMITTED"], *options: str
) -> Engine:
    return create_engine(
        settings.address,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=settings.lock_timeout.total_seconds(),
        isolation_level=isolation,
        hide_parameters=True,
        connect_args={
            "application_name": "knowgate",
            "connect_timeout": max(2, round(settings.connect_timeout.total_seconds())),
            "options": " ".join((*_session_options(settings), *options)),
            **_KEEPALIVES,
        },
    )


def _session_options(settings: DatabaseSettings) -> list[str]:
    limits = {
        "lock_timeout": settings.lock_timeout,
        "statement_timeout": settings.statement_timeout,
        "idle_in_transaction_session_timeout": settings.idle_timeout,
    }
    limited = [f"-c {name}={limit // timedelta(milliseconds=1)}" for name, limit in limits.items()]
    return [*limited, *_PLANNING]
