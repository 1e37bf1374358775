"""What both databases promise about work: whole or not at all, answered after the commit, errors translated."""

import asyncio
import re

import pytest
from sqlalchemy import Connection

from shared.database.database import Database
from shared.database.errors import UniqueViolation
from shared.database.operations import insert_operations, load_operations
from shared.database.quick_reads import open_quick_reads
from shared.database.settings import DatabaseSettings
from shared.database.spaces import insert_spaces, load_spaces
from shared.database.sql import run
from shared.domain.errors import StoreUnavailable
from tests.integration.database.samples import a_space, an_operation


async def test_what_work_returns_is_returned_and_what_it_wrote_can_be_read(database: Database) -> None:
    def work(conn: Connection) -> str:
        insert_spaces(conn, [a_space("spc_9")])
        return "done"

    assert await database.write(work) == "done"
    assert set(await database.read(lambda conn: load_spaces(conn, ["spc_9"]))) == {"spc_9"}


async def test_work_that_raises_leaves_nothing_behind_and_its_error_arrives_as_it_was(database: Database) -> None:
    class Refused(Exception):
        pass

    def work(conn: Connection) -> None:
        insert_spaces(conn, [a_space("spc_9")])
        raise Refused("no")

    with pytest.raises(Refused, match="no"):
        await database.write(work)
    assert await database.read(lambda conn: load_spaces(conn, ["spc_9"])) == {}


async def test_a_reading_connection_cannot_write(database: Database) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await database.read(lambda conn: insert_spaces(conn, [a_space()]))
    assert re.search("read.?only", str(caught.value.__cause__))
    assert await database.read(lambda conn: load_spaces(conn, ["spc_1"])) == {}


@pytest.mark.parametrize(
    ("constraint", "second"),
    [("space_code_once", a_space("spc_2", code="spc_1")), ("space_pkey", a_space("spc_1", code="other"))],
)
async def test_a_second_row_of_what_is_unique_is_named_alike_on_both_databases(
    database: Database, constraint: str, second: object
) -> None:
    await database.write(lambda conn: insert_spaces(conn, [a_space()]))
    with pytest.raises(UniqueViolation) as caught:
        await database.write(lambda conn: insert_spaces(conn, [second]))  # type: ignore[list-item]
    assert caught.value.constraint == constraint


async def test_an_error_of_ours_is_no_error_of_the_store(database: Database) -> None:
    with pytest.raises(Exception, match="no_such_table"):
        await database.write(lambda conn: run(conn, "SELECT 1 FROM no_such_table"))


@pytest.mark.parametrize("way", ["read", "write"])
async def test_an_iteration_that_ends_in_the_work_is_an_error_and_not_silence(database: Database, way: str) -> None:
    nothing: list[str] = []
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(getattr(database, way)(lambda conn: next(iter(nothing))), 10)


async def test_errors_never_show_parameters(database: Database) -> None:
    with pytest.raises(UniqueViolation) as caught:
        await database.write(lambda conn: insert_spaces(conn, [a_space(name="SECRET"), a_space(name="SECRET")]))
    assert "SECRET" not in f"{caught.value} {caught.value.__cause__}"


async def test_many_writers_at_once_all_get_their_own_answer(database: Database) -> None:
    async def write(number: int) -> int:
        operation = an_operation(f"op_{number}", None)
        await database.write(lambda conn: insert_operations(conn, [operation]))
        return number

    assert await asyncio.gather(*(write(number) for number in range(60))) == list(range(60))
    ids = [f"op_{number}" for number in range(60)]
    assert len(await database.read(lambda conn: load_operations(conn, ids))) == 60


def test_work_without_an_event_loop(database: Database) -> None:
    database.write_blocking(lambda conn: insert_spaces(conn, [a_space()]))
    assert database.read_blocking(lambda conn: load_spaces(conn, ["spc_1"])) == {"spc_1": a_space()}


async def test_a_caller_that_was_cancelled_disturbs_nobody(database: Database) -> None:
    task = asyncio.ensure_future(database.write(lambda conn: insert_spaces(conn, [a_space("spc_2")])))
    await asyncio.sleep(0)
    task.cancel()
    await database.write(lambda conn: insert_spaces(conn, [a_space("spc_3")]))
    assert "spc_3" in await database.read(lambda conn: load_spaces(conn, ["spc_2", "spc_3"]))


async def test_a_quick_read_sees_what_was_just_committed_and_cannot_write(
    database: Database, settings: DatabaseSettings
) -> None:
    async with open_quick_reads(database, settings) as reads:
        assert await reads.read(lambda conn: load_spaces(conn, ["spc_1"])) == {}
        await database.write(lambda conn: insert_spaces(conn, [a_space()]))
        assert set(await reads.read(lambda conn: load_spaces(conn, ["spc_1"]))) == {"spc_1"}
        with pytest.raises(StoreUnavailable):
            await reads.read(lambda conn: insert_spaces(conn, [a_space("spc_2")]))
