"""PostgreSQL's own ways to fail: deadlocks, conflicts, waits that are too long, connections that are lost."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from shared.database.database import Database
from shared.database.documents import load_documents
from shared.database.locking import Lock
from shared.database.settings import DatabaseSettings
from shared.database.spaces import insert_spaces, load_spaces
from shared.database.sql import run
from shared.domain.errors import StoreUnavailable
from tests.integration.database.samples import a_space, store_served

Opener = Callable[[DatabaseSettings], Database]

END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def database(postgresql: DatabaseSettings, opened: Opener) -> Database:
    """A database on the server."""
    return opened(postgresql)


@pytest.fixture
def hasty(postgresql: DatabaseSettings, opened: Opener) -> Database:
    """The same database for somebody who does not wait."""
    quickly = timedelta(milliseconds=100)
    wait = {"lock_timeout": quickly, "statement_timeout": quickly, "idle_timeout": quickly}
    return opened(postgresql.model_copy(update=wait))


def lock(space_id: str) -> Callable[[Connection], object]:
    return lambda conn: load_spaces(conn, [space_id], lock=Lock.UPDATE)


async def test_a_deadlock_is_run_again_and_both_succeed(database: Database) -> None:
    await database.write(lambda conn: insert_spaces(conn, [a_space("spc_1"), a_space("spc_2")]))
    both_in = threading.Barrier(2)
    attempts: list[str] = []

    def work(first: str, second: str) -> Callable[[Connection], str]:
        def cross(conn: Connection) -> str:
            is_first_attempt = first not in attempts
            attempts.append(first)
            lock(first)(conn)
            if is_first_attempt:
                both_in.wait(10)
            lock(second)(conn)
            return first

        return cross

    works = (work("spc_1", "spc_2"), work("spc_2", "spc_1"))
    assert await asyncio.gather(*map(database.write, works)) == ["spc_1", "spc_2"]
    assert len(attempts) == 3


async def test_rows_are_locked_in_the_order_of_their_ids_whatever_order_is_asked_for(database: Database) -> None:
    await database.write(lambda conn: store_served(conn, *range(1, 40)))
    ids = [f"doc_{number}" for number in range(1, 40)]
    attempts = 0

    def work(order: list[str]) -> Callable[[Connection], int]:
        def lock_all(conn: Connection) -> int:
            nonlocal attempts
            attempts += 1
            return len(load_documents(conn, order, lock=Lock.UPDATE))

        return lock_all

    orders = [ids, ids[::-1]] * 10
    assert await asyncio.gather(*(database.write(work(order)) for order in orders)) == [39] * 20
    assert attempts == 20


async def test_a_conflict_that_never_ends_is_given_up_as_unavailable(database: Database) -> None:
    attempts = 0

    def conflict(conn: Connection) -> None:
        nonlocal attempts
        attempts += 1
        run(conn, "DO $$ BEGIN RAISE EXCEPTION 'could not serialize' USING ERRCODE = '40001'; END $$")

    with pytest.raises(StoreUnavailable):
        await database.write(conflict)
    assert attempts == 5


async def test_waiting_too_long_for_a_row_is_unavailable(database: Database, hasty: Database) -> None:
    await database.write(lambda conn: insert_spaces(conn, [a_space()]))
    is_in, may_go = threading.Event(), threading.Event()

    def keep(conn: Connection) -> None:
        lock("spc_1")(conn)
        is_in.set()
        assert may_go.wait(10)

    keeping = asyncio.ensure_future(database.write(keep))
    await asyncio.to_thread(is_in.wait, 10)
    with pytest.raises(StoreUnavailable):
        await hasty.write(lock("spc_1"))
    may_go.set()
    await keeping


@pytest.mark.parametrize("way", ["read", "write"])
async def test_a_statement_that_takes_too_long_is_unavailable(hasty: Database, way: str) -> None:
    with pytest.raises(StoreUnavailable):
        await getattr(hasty, way)(lambda conn: run(conn, "SELECT pg_sleep(5)"))


async def test_connections_lost_while_they_rested_are_made_anew_without_anybody_noticing(
    database: Database, postgresql: DatabaseSettings, opened: Opener
) -> None:
    await database.write(lambda conn: insert_spaces(conn, [a_space()]))
    await database.read(lambda conn: load_spaces(conn, ["spc_1"]))
    await opened(postgresql).write(lambda conn: run(conn, END_OTHERS).all())
    assert set(await database.read(lambda conn: load_spaces(conn, ["spc_1"]))) == {"spc_1"}
    await database.write(lambda conn: insert_spaces(conn, [a_space("spc_2")]))


async def test_a_transaction_whose_connection_is_lost_is_run_again_whole(
    database: Database, postgresql: DatabaseSettings, opened: Opener
) -> None:
    other = opened(postgresql)
    attempts = 0

    def work(conn: Connection) -> None:
        nonlocal attempts
        attempts += 1
        insert_spaces(conn, [a_space()])
        if attempts == 1:
            other.write_blocking(lambda conn: run(conn, END_OTHERS).all())
        run(conn, "SELECT 1")

    await database.write(work)
    assert attempts == 2
    assert set(await database.read(lambda conn: load_spaces(conn, ["spc_1"]))) == {"spc_1"}


async def test_a_server_that_is_not_there_is_unavailable(postgresql: DatabaseSettings, opened: Opener) -> None:
    nowhere = postgresql.address.set(port=1).render_as_string(hide_password=False)
    away = opened(DatabaseSettings.model_validate({"url": nowhere}))
    with pytest.raises(StoreUnavailable):
        await away.read(lambda conn: run(conn, "SELECT 1"))
    with pytest.raises(StoreUnavailable):
        await away.write(lambda conn: run(conn, "SELECT 1"))


async def test_a_session_has_the_limits_that_the_settings_say(database: Database) -> None:
    names = "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "default_transaction_isolation"
    shown = [await database.write(lambda conn, name=name: run(conn, f"SHOW {name}").scalar_one()) for name in names]  # type: ignore[misc]
    assert shown == ["5s", "5s", "5s", "read committed"]
