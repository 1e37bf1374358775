"""SQLite: one writer thread that commits in groups, and readers beside it on connections of their own."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from shared.database.group_writer import GroupWriter
from shared.database.settings import DatabaseSettings
from shared.database.translation import raise_translated

T = TypeVar("T")

_STATEMENTS = 512
"""Prepared statements that a connection keeps."""

_WRITER_CACHE_KIB = 65_536
_READER_CACHE_KIB = 16_384


class SqliteDatabase:
    """A database in one file, shared by several processes of one machine."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, settings: DatabaseSettings) -> None:
        self._writer = GroupWriter(database_file(settings), writing_engine(settings), patience=settings.lock_timeout)
        self._engine = reading_engine(settings)
        self._threads = ThreadPoolExecutor(settings.readers, thread_name_prefix="knowgate-database-reader")
        self._local = threading.local()
        self._connections: list[Connection] = []

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; returns after its commit."""
        return await self._writer.write(work)

    def write_blocking(self, work: Callable[[Connection], T]) -> T:
        """`write` for callers without an event loop."""
        return self._writer.write_blocking(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection that cannot write."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, work)

    def read_blocking(self, work: Callable[[Connection], T]) -> T:
        """`read` for callers without an event loop."""
        return self._threads.submit(self._read, work).result()

    async def close(self) -> None:
        """Finish what was begun and close every connection."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._threads.shutdown()
        for connection in self._connections:
            connection.close()
        self._engine.dispose()

    def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            return work(self._connection())
        except (SQLAlchemyError, StopIteration) as error:
            raise_translated(error)

    def _connection(self) -> Connection:
        """This thread's own connection, opened once."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._engine.connect()
            self._connections.append(connection)
        return connection


def database_file(settings: DatabaseSettings) -> Path:
    """Where the database lies; its locks lie beside it."""
    return Path(settings.address.database or "")


def writing_engine(settings: DatabaseSettings) -> Engine:
    """An engine whose transactions begin with the right to write."""
    engine = _engine(settings)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {settings.durability}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")  # so that a REPLACE does not get past a delete's trigger
        connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def reading_engine(settings: DatabaseSettings) -> Engine:
    """An engine whose connections cannot write."""
    engine = _engine(settings)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")

    return engine


def _engine(settings: DatabaseSettings) -> Engine:
    """Every connection is opened once and kept by its thread; the driver leaves transactions to us."""
    return create_engine(
        settings.address,
        poolclass=NullPool,
        hide_parameters=True,
        connect_args={
            "isolation_level": None,
            "cached_statements": _STATEMENTS,
            "check_same_thread": False,
            "timeout": settings.lock_timeout.total_seconds(),
        },
    )
