"""One thread that writes for a whole process: what comes in together is committed together.

Each work runs in a savepoint of its own and is answered after the commit. A work that raises loses its
savepoint alone. When the commit fails, or SQLite gives the transaction up, everything of the group is
undone and each work is tried alone.
"""

import asyncio
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from shared.database.file_locks import WriteTurns
from shared.database.translation import translated

T = TypeVar("T")

LONGEST_GROUP = timedelta(milliseconds=15)
"""No work joins a transaction that is older, so that other processes get their turn."""

Work = Callable[[Connection], Any]


class _TransactionLost(Exception):
    """SQLite rolled the whole transaction back because of one statement in it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    work: Work
    future: "Future[Any] | asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop | None
    since: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class _Answer:
    value: Any = None
    error: BaseException | None = None


_Answered = tuple[_Request, _Answer]


class GroupWriter:
    """Takes work from any thread or event loop and runs it in one thread of its own."""

    def __init__(
        self, path: Path, engine: Engine, *, patience: timedelta, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._turns = WriteTurns(path)
        self._patience = patience.total_seconds()
        self._connection: Connection | None = None
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._is_closed = False
        self._door = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="knowgate-database-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; returns after its commit."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._submit(_Request(work, future, loop))
        return await future

    def write_blocking(self, work: Callable[[Connection], T]) -> T:
        """`write` for callers without an event loop."""
        future: Future[T] = Future()
        self._submit(_Request(work, future, None))
        return future.result()

    def close(self) -> None:
        """Run what was submitted, then end the thread."""
        with self._door:
            self._is_closed = True
            self._queue.put(None)
        self._thread.join()

    def _submit(self, request: _Request) -> None:
        with self._door:  # nothing comes in behind the close, where nobody would answer it
            if self._is_closed:
                raise RuntimeError("the database is closed")
            self._queue.put(request)

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            self._write_group(first, self._joining)
        self._drop_connection()
        self._engine.dispose()
        self._turns.close()

    def _write_group(self, first: _Request, joining: Callable[[], Iterable[_Request]]) -> None:
        """Run `first` and whatever joins it in one transaction, and answer all of them."""
        group = [first]
        answers: list[_Answer] = []
        try:
            with self._turns.turn(first.since + self._patience), self._transaction() as connection:
                followers = joining()
                answers.append(_run_one(connection, first))
                for request in followers:
                    group.append(request)
                    answers.append(_run_one(connection, request))
        except BaseException as error:  # noqa: BLE001 - whatever it was, those who wait must be answered
            self._undone(group, error)
        else:
            _deliver(list(zip(group, answers, strict=True)))

    def _undone(self, group: Sequence[_Request], error: BaseException) -> None:
        if len(group) > 1:
            for request in group:
                self._write_group(request, tuple)
            return
        cause = error.__cause__ if isinstance(error, _TransactionLost) else None
        _deliver([(group[0], _Answer(error=translated(cause or error)))])

    def _joining(self) -> Iterator[_Request]:
        """Asked when a transaction begins: the requests that come in until it is too old for another."""
        return self._until(self._clock() + LONGEST_GROUP.total_seconds())

    def _until(self, latest: float) -> Iterator[_Request]:
        while self._clock() < latest:
            try:
                request = self._queue.get_nowait()
            except queue.Empty:
                return
            if request is None:
                self._queue.put(None)
                return
            yield request

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """One transaction; after a failure of the transaction itself the connection is made anew."""
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            with self._connection.begin():
                yield self._connection
        except BaseException:
            self._drop_connection()
            raise

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()


def _run_one(connection: Connection, request: _Request) -> _Answer:
    """Run one work in its savepoint; what it raises is its own answer."""
    if request.future.cancelled():
        return _Answer()
    driver: Any = connection.connection.driver_connection
    driver.execute("SAVEPOINT work")
    try:
        value = request.work(connection)
    except BaseException as error:  # it belongs to the one who sent the work
        if not driver.in_transaction:
            raise _TransactionLost from error
        driver.execute("ROLLBACK TO work")
        driver.execute("RELEASE work")
        return _Answer(error=translated(error))
    driver.execute("RELEASE work")
    return _Answer(value=value)


def _deliver(answered: Sequence[_Answered]) -> None:
    """Wake each event loop once for all of its answers."""
    by_loop: defaultdict[asyncio.AbstractEventLoop | None, list[_Answered]] = defaultdict(list)
    for request, answer in answered:
        by_loop[request.loop].append((request, answer))
    for loop, share in by_loop.items():
        if loop is None:
            _settle(share)
        else:
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(_settle, share)


def _settle(answered: Sequence[_Answered]) -> None:
    for request, answer in answered:
        if request.future.done():
            continue
        if answer.error is None:
            request.future.set_result(answer.value)
        else:
            request.future.set_exception(answer.error)
