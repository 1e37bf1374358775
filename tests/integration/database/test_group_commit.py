"""The one writer of a process: works that come together are committed together and harm nobody but themselves."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from sqlite3 import connect

import pytest
from sqlalchemy import Connection

from shared.database.database import Database, open_database
from shared.database.errors import UniqueViolation
from shared.database.group_writer import GroupWriter
from shared.database.settings import DatabaseSettings
from shared.database.spaces import insert_spaces, load_spaces
from shared.database.sql import run
from shared.database.sqlite import database_file, writing_engine
from shared.domain.errors import StoreUnavailable
from tests.integration.database.samples import a_space

Opener = Callable[[DatabaseSettings], Database]
Work = Callable[[Connection], object]


class Refused(Exception):
    pass


class Gate:
    """Work that holds the writer until it is let go, so that what follows is one group."""

    def __init__(self) -> None:
        self.is_in = threading.Event()
        self.may_go = threading.Event()

    def __call__(self, conn: Connection) -> None:
        self.is_in.set()
        assert self.may_go.wait(10)


async def held(writer: GroupWriter | Database) -> tuple[Gate, "asyncio.Future[None]"]:
    """A writer that is busy."""
    gate = Gate()
    task = asyncio.ensure_future(writer.write(gate))
    await asyncio.to_thread(gate.is_in.wait, 10)
    return gate, task


async def written_together(writer: GroupWriter, *works: Work) -> list[object]:
    """What becomes of works that come while the writer is busy, and so join its transaction."""
    gate, first = await held(writer)
    writes = [asyncio.ensure_future(writer.write(work)) for work in works]
    await asyncio.sleep(0)
    gate.may_go.set()
    await first
    return await asyncio.gather(*writes, return_exceptions=True)


@pytest.fixture
def writer(sqlite: DatabaseSettings) -> Iterator[GroupWriter]:
    """A writer whose transactions never grow old."""
    writer = GroupWriter(database_file(sqlite), writing_engine(sqlite), patience=sqlite.lock_timeout, clock=lambda: 0.0)
    yield writer
    writer.close()


def stored(settings: DatabaseSettings) -> set[str]:
    """The ids of the spaces in the file."""
    with closing(connect(database_file(settings))) as connection:
        return {row[0] for row in connection.execute("SELECT id FROM space")}


def insert(space_id: str) -> Callable[[Connection], str]:
    def work(conn: Connection) -> str:
        insert_spaces(conn, [a_space(space_id)])
        return space_id

    return work


async def test_what_comes_while_another_is_written_is_committed_together(writer: GroupWriter) -> None:
    transactions: list[object] = []

    def work(conn: Connection) -> None:
        transactions.append(conn.get_transaction())

    await written_together(writer, *[work] * 5)
    assert len(transactions) == 5
    assert len(set(transactions)) == 1


async def test_one_work_that_fails_does_not_harm_the_others_of_its_group(
    writer: GroupWriter, sqlite: DatabaseSettings
) -> None:
    def fail(conn: Connection) -> None:
        insert_spaces(conn, [a_space("spc_bad")])
        raise Refused

    works = (insert("spc_1"), fail, insert("spc_1"), insert("spc_2"))
    one, bad, twin, two = await written_together(writer, *works)
    assert (one, two) == ("spc_1", "spc_2")
    assert isinstance(bad, Refused)
    assert isinstance(twin, UniqueViolation)
    assert stored(sqlite) == {"spc_1", "spc_2"}


def break_the_commit(conn: Connection) -> None:
    """A deferred foreign key is looked at by the commit, so it fails whoever is in the same transaction."""
    run(conn, "PRAGMA defer_foreign_keys = ON")
    run(conn, "INSERT INTO document_tag (document_id, tag) VALUES ('doc_absent', 'x')")


async def test_when_the_commit_fails_each_work_is_tried_alone(writer: GroupWriter, sqlite: DatabaseSettings) -> None:
    one, bad, two = await written_together(writer, insert("spc_1"), break_the_commit, insert("spc_2"))
    assert (one, two) == ("spc_1", "spc_2")
    assert "FOREIGN KEY" in str(bad)
    assert stored(sqlite) == {"spc_1", "spc_2"}


async def test_what_failed_only_because_of_the_group_succeeds_alone(writer: GroupWriter) -> None:
    """The second finds the first one's row, which is gone with the commit that the first made fail."""

    def take_and_break(conn: Connection) -> None:
        insert_spaces(conn, [a_space("spc_1")])
        break_the_commit(conn)

    bad, good = await written_together(writer, take_and_break, insert("spc_1"))
    assert "FOREIGN KEY" in str(bad)
    assert good == "spc_1"


async def test_when_sqlite_gives_the_transaction_up_each_work_is_tried_alone(
    writer: GroupWriter, sqlite: DatabaseSettings
) -> None:
    def give_up(conn: Connection) -> None:
        run(conn, "ROLLBACK")
        raise Refused

    one, bad, two = await written_together(writer, insert("spc_1"), give_up, insert("spc_2"))
    assert (one, two) == ("spc_1", "spc_2")
    assert isinstance(bad, Refused)
    assert stored(sqlite) == {"spc_1", "spc_2"}


async def test_no_work_joins_a_transaction_that_is_too_old(sqlite: DatabaseSettings) -> None:
    seconds = [0.0]
    writer = GroupWriter(
        database_file(sqlite), writing_engine(sqlite), patience=sqlite.lock_timeout, clock=lambda: seconds[0]
    )
    gate = Gate()
    first = asyncio.ensure_future(writer.write(gate))
    await asyncio.to_thread(gate.is_in.wait, 10)
    transactions: list[object] = []

    def take_ten_milliseconds(conn: Connection) -> None:
        transactions.append(conn.get_transaction())
        seconds[0] += 0.010

    writes = [asyncio.ensure_future(writer.write(take_ten_milliseconds)) for _ in range(6)]
    await asyncio.sleep(0)
    gate.may_go.set()
    await asyncio.gather(first, *writes)
    await asyncio.to_thread(writer.close)
    sizes = [transactions.count(transaction) for transaction in dict.fromkeys(transactions)]
    assert sizes == [2, 2, 2]


async def test_a_disk_that_is_full_is_no_bug_and_room_makes_it_work_again(
    sqlite: DatabaseSettings, opened: Opener
) -> None:
    database = opened(sqlite)
    await database.write(insert("spc_1"))

    def limit(pages: int) -> Callable[[Connection], object]:
        return lambda conn: run(conn, f"PRAGMA max_page_count = {pages}").all()

    await database.write(limit(1))
    big = a_space("spc_big", description="x" * 1_000_000)
    with pytest.raises(StoreUnavailable):
        await database.write(lambda conn: insert_spaces(conn, [big]))
    await database.write(limit(1_000_000))
    await database.write(lambda conn: insert_spaces(conn, [big]))
    assert stored(sqlite) == {"spc_1", "spc_big"}


async def test_a_writer_that_gets_no_turn_in_time_is_unavailable_and_recovers(
    sqlite: DatabaseSettings, opened: Opener
) -> None:
    hasty = sqlite.model_copy(update={"lock_timeout": timedelta(milliseconds=100)})
    slow, quick = opened(sqlite), opened(hasty)
    gate, first = await held(slow)
    with pytest.raises(StoreUnavailable, match="busy"):
        await quick.write(insert("spc_1"))
    gate.may_go.set()
    await first
    assert await quick.write(insert("spc_1")) == "spc_1"


async def test_readers_do_not_wait_for_the_writer_and_do_not_see_what_is_not_committed(
    sqlite: DatabaseSettings, opened: Opener
) -> None:
    database = opened(sqlite)
    gate = Gate()

    def work(conn: Connection) -> None:
        insert_spaces(conn, [a_space()])
        gate(conn)

    writing = asyncio.ensure_future(database.write(work))
    await asyncio.to_thread(gate.is_in.wait, 10)
    assert await database.read(lambda conn: load_spaces(conn, ["spc_1"])) == {}
    gate.may_go.set()
    await writing
    assert set(await database.read(lambda conn: load_spaces(conn, ["spc_1"]))) == {"spc_1"}


async def test_what_was_submitted_before_the_close_is_still_written(sqlite: DatabaseSettings) -> None:
    database = open_database(sqlite)
    writes = [asyncio.ensure_future(database.write(insert(f"spc_{number}"))) for number in range(20)]
    await asyncio.sleep(0)
    await database.close()
    assert len(await asyncio.gather(*writes)) == 20
    with pytest.raises(RuntimeError, match="closed"):
        await database.write(insert("spc_late"))
    assert len(stored(sqlite)) == 20
