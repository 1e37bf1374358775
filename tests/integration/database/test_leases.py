"""The lease: one holder at a time, by the database's clock, and nothing of a holder that was overtaken stays."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.leases import hold_lease, release_lease, renew_lease, take_lease
from shared.database.settings import DatabaseSettings
from shared.database.spaces import insert_spaces, load_spaces
from shared.database.sql import run
from tests.integration.database.samples import a_space, wait_for_a_waiter

Opener = Callable[[DatabaseSettings], Database]

NAME = "projector"
LONG, OVER = timedelta(minutes=10), timedelta(seconds=-1)


def take(database: Database, holder: str, ttl: timedelta = LONG, *, steal: bool = False) -> int | None:
    return database.write_blocking(lambda conn: take_lease(conn, NAME, holder, ttl, steal=steal))


def test_the_first_one_takes_it_and_the_second_does_not(database: Database) -> None:
    assert take(database, "one") == 1
    assert take(database, "two") is None
    assert take(database, "one") is None


def test_what_has_run_out_can_be_taken_and_the_epoch_rises(database: Database) -> None:
    assert take(database, "one", OVER) == 1
    assert take(database, "two") == 2


def test_a_successor_that_saw_its_predecessor_die_steals_it(database: Database) -> None:
    assert take(database, "one") == 1
    assert take(database, "two", steal=True) == 2


def test_renewing_keeps_it_and_only_the_holder_can(database: Database) -> None:
    take(database, "one", OVER)
    assert database.write_blocking(lambda conn: renew_lease(conn, NAME, "one", 1, LONG))
    assert take(database, "two") is None
    assert not database.write_blocking(lambda conn: renew_lease(conn, NAME, "two", 1, LONG))
    assert not database.write_blocking(lambda conn: renew_lease(conn, NAME, "one", 2, LONG))


def test_one_that_was_given_up_is_free_at_once(database: Database) -> None:
    take(database, "one")
    database.write_blocking(lambda conn: release_lease(conn, NAME, "two", 1))
    assert take(database, "two") is None
    database.write_blocking(lambda conn: release_lease(conn, NAME, "one", 1))
    assert take(database, "two") == 2


def test_a_holder_that_was_overtaken_writes_nothing(database: Database) -> None:
    take(database, "one", OVER)
    take(database, "two")

    def work(conn: Connection) -> None:
        hold_lease(conn, NAME, 1)
        insert_spaces(conn, [a_space()])

    with pytest.raises(LeaseLost):
        database.write_blocking(work)
    assert database.read_blocking(lambda conn: load_spaces(conn, ["spc_1"])) == {}
    database.write_blocking(lambda conn: hold_lease(conn, NAME, 2))


def test_a_lease_that_nobody_ever_took_is_held_by_nobody(database: Database) -> None:
    with pytest.raises(LeaseLost):
        database.write_blocking(lambda conn: hold_lease(conn, NAME, 1))


def test_the_time_to_live_is_counted_by_the_databases_clock(database: Database) -> None:
    take(database, "one", timedelta(seconds=2))
    row = "SELECT expires_at - renewed_at FROM lease WHERE name = :name"
    assert database.read_blocking(lambda conn: run(conn, row, name=NAME).scalar_one()) == pytest.approx(2e6, abs=1e4)


async def test_of_many_that_try_at_once_one_gets_it(settings: DatabaseSettings, opened: Opener) -> None:
    databases = [opened(settings) for _ in range(3)]
    tries = [
        database.write(lambda conn, name=f"{index}": take_lease(conn, NAME, name, LONG))  # type: ignore[misc]
        for index, database in enumerate(databases * 3)
    ]
    assert sorted(epoch for epoch in await asyncio.gather(*tries) if epoch is not None) == [1]


class Held:
    """A holder's transaction that stays open until it is let go."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.is_in, self.may_go = threading.Event(), threading.Event()

    def __call__(self, conn: Connection) -> None:
        hold_lease(conn, NAME, self.epoch)
        self.is_in.set()
        assert self.may_go.wait(10)
        insert_spaces(conn, [a_space()])


async def test_on_postgresql_the_renewal_passes_the_holders_transaction_and_a_takeover_waits_for_it(
    postgresql: DatabaseSettings, opened: Opener
) -> None:
    database = opened(postgresql)
    assert await database.write(lambda conn: take_lease(conn, NAME, "one", LONG)) == 1
    work = Held(1)
    holding = asyncio.ensure_future(database.write(work))
    await asyncio.to_thread(work.is_in.wait, 10)
    renewed = database.write(lambda conn: renew_lease(conn, NAME, "one", 1, LONG))
    assert await asyncio.wait_for(renewed, 3)
    stealing = asyncio.ensure_future(database.write(lambda conn: take_lease(conn, NAME, "two", LONG, steal=True)))
    await asyncio.to_thread(wait_for_a_waiter, database)
    assert not stealing.done()
    work.may_go.set()
    await holding
    assert await stealing == 2
    assert set(await database.read(lambda conn: load_spaces(conn, ["spc_1"]))) == {"spc_1"}
