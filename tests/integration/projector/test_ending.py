"""Cancels and deletes through a projector with a real broker, and purges of which one cannot be issued."""

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from services.projector import term
from services.projector.housekeeping import PIECE, Housekeeping
from shared.contracts.enums import OperationStatus, Step
from shared.contracts.ids import OperationId, TenantId, VersionId
from shared.database.database import Database
from shared.database.purges import insert_purges, load_purges
from shared.domain.purge import PurgeStatus
from shared.lifecycle.acceptance import Accepted
from shared.messaging.cancellations import Cancellations
from tests.integration.database.samples import NOW, a_purge, store_served
from tests.integration.lifecycle.bench import Bench
from tests.integration.projector.conftest import Stage

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)


async def reaches(stage: Stage, operation_id: OperationId, status: OperationStatus) -> None:
    """Wait until the operation has this status."""
    async with asyncio.timeout(20):
        while (await stage.bench.operation(operation_id)).status is not status:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)


async def in_hand(stage: Stage) -> Accepted:
    """An upload that is out in the stream; it is answered only when somebody answers uploads."""
    stage.project()
    stage.answer(Step.PROVISION, Step.CANCEL, Step.PURGE, Step.PURGE_FILE)
    space = await stage.bench.create_space()
    await reaches(stage, space.work.operation.id, OperationStatus.SUCCEEDED)
    accepted = await stage.bench.upload(space.work.space.id)
    await stage.becomes("SELECT step FROM outbox WHERE sequence IS NOT NULL", [("upload",)])
    return accepted


async def test_a_cancel_is_told_to_the_workers_and_confirmed_by_one(stage: Stage) -> None:
    operation_id = (await in_hand(stage)).work.operation.id
    heard: list[OperationId] = []
    cancellations = Cancellations(stage.connection)
    await cancellations.listen(heard.append)

    await stage.bench.cancel(operation_id)

    await reaches(stage, operation_id, OperationStatus.CANCELLED)
    async with asyncio.timeout(20):
        while heard != [operation_id]:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)
    assert operation_id in await cancellations.known()
    assert await stage.bench.rows("SELECT status FROM purge") == [("WAITING",)]
    stage.answer(Step.UPLOAD)
    await stage.becomes("SELECT DISTINCT status FROM purge", [("DONE",)])


async def test_a_delete_cancels_what_is_in_hand_and_ends_with_everything_purged(stage: Stage) -> None:
    accepted = await in_hand(stage)
    assert accepted.work.document is not None

    deleting = await stage.bench.delete(accepted.work.document.id, expected=0)

    await reaches(stage, accepted.work.operation.id, OperationStatus.CANCELLED)
    await reaches(stage, deleting.work.operation.id, OperationStatus.RUNNING)
    stage.answer(Step.UPLOAD)
    await reaches(stage, deleting.work.operation.id, OperationStatus.SUCCEEDED)
    assert await stage.bench.rows("SELECT status FROM document") == [("DELETED",)]
    await stage.becomes("SELECT DISTINCT status FROM purge", [("DONE",)])


async def test_more_purges_than_are_issued_at_once_do_not_wait_for_the_next_look(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term, "PURGES_EVERY", timedelta(hours=1))
    numbers = range(2 * PIECE + 1)
    await stage.database.write(lambda conn: store_served(conn, *numbers))
    purges = [a_purge(f"pur_{n}", version_id=VersionId(f"ver_{n}")) for n in numbers]
    await stage.database.write(lambda conn: insert_purges(conn, purges))

    stage.project()

    await stage.becomes("SELECT status, count(*) FROM purge GROUP BY status", [("ISSUED", 201)])


async def test_a_newcomers_purge_is_issued_with_the_first_of_a_tenant_who_has_thousands(database: Database) -> None:
    await database.write(lambda conn: store_served(conn, *range(1, 1001)))
    mass = [a_purge(f"pur_{n}", version_id=VersionId(f"ver_{n}")) for n in range(1, 1000)]
    late = a_purge(
        "pur_late", tenant_id=TenantId("globex"), version_id=VersionId("ver_1000"), due_at=NOW + timedelta(seconds=1)
    )
    await database.write(lambda conn: insert_purges(conn, [*mass, late]))
    bench = Bench(database)
    bench.watch.now = NOW + timedelta(seconds=1)
    chores = Housekeeping(
        database=database, around=bench.around, guard=lambda _: None, inbox_kept=DAY, reconciliations_kept=DAY
    )

    assert await chores.issue_due_purges() == 100

    issued = await database.read(lambda conn: load_purges(conn, ["pur_late"]))
    assert issued["pur_late"].status is PurgeStatus.ISSUED


async def test_a_purge_that_cannot_be_issued_makes_way_for_the_others(database: Database) -> None:
    """A dot in its id: its command could not be told from another's."""
    await database.write(lambda conn: store_served(conn, 1, 2))
    purges = [a_purge("pur.bad"), a_purge("pur_2", version_id=VersionId("ver_2"))]
    await database.write(lambda conn: insert_purges(conn, purges))
    bench = Bench(database)
    bench.watch.now = NOW
    chores = Housekeeping(
        database=database, around=bench.around, guard=lambda _: None, inbox_kept=DAY, reconciliations_kept=DAY
    )
    with capture_logs() as logs:
        assert await chores.issue_due_purges() == 1
    assert [log["purge"] for log in logs if log["event"] == "projector.purge.failed"] == ["pur.bad"]
    after = await database.read(lambda conn: load_purges(conn, ["pur.bad", "pur_2"]))
    assert (after["pur_2"].status, after["pur.bad"].status) == (PurgeStatus.ISSUED, PurgeStatus.WAITING)
    assert (after["pur.bad"].attempt, after["pur.bad"].due_at > NOW) == (2, True)
    assert await chores.issue_due_purges() == 0


async def test_a_purge_with_nothing_to_remove_is_ended_and_counts_as_one_of_the_piece(database: Database) -> None:
    await database.write(lambda conn: store_served(conn, 1))
    purges = [a_purge("pur_1"), a_purge("pur_gone", version_id=VersionId("ver_none"))]
    await database.write(lambda conn: insert_purges(conn, purges))
    bench = Bench(database)
    bench.watch.now = NOW
    chores = Housekeeping(
        database=database, around=bench.around, guard=lambda _: None, inbox_kept=DAY, reconciliations_kept=DAY
    )

    assert await chores.issue_due_purges() == 2

    after = await database.read(lambda conn: load_purges(conn, ["pur_1", "pur_gone"]))
    assert (after["pur_1"].status, after["pur_gone"].status) == (PurgeStatus.ISSUED, PurgeStatus.DONE)
