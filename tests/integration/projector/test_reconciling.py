"""The reconciler beside the projector: it finds what is wrong, repairs exactly that, and leaves all else alone."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection
from structlog.testing import capture_logs

from services.projector.housekeeping import Housekeeping
from shared.auth.sealing import Sealer
from shared.contracts.enums import (
    DocumentStatus,
    FailureClass,
    FailureReason,
    ReconciliationStatus,
    Step,
    VersionStatus,
)
from shared.contracts.ids import DocumentId, OperationId
from shared.contracts.retrieval import RetrievalRequest
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.purges import find_purges_of
from shared.domain.authorization import DEFAULT_ROLES
from shared.domain.errors import StoreUnavailable
from shared.providers.ports import IngestState, NativeDocument, SpaceRef
from shared.providers.scripted.script import Script
from shared.retrieval.search import Searcher
from tests.integration.lifecycle.bench import ANA, Bench
from tests.integration.projector.conftest import Stage
from tests.integration.projector.yard import PROFILE, MeddledDatabase, WatchedProvider, Yard, kinds, outcomes
from tests.support.scripted import close_kept, kept

pytestmark = pytest.mark.anyio

LONG = timedelta(hours=30)
"""After that nothing is young, and every upload has expired."""
UNKNOWN = "UNKNOWN_PROVIDER_DOCUMENT"
MISSING = "MISSING_PROVIDER_DOCUMENT"
NOTHING_ORDERED = [(0,)]
FIRST_REPAIR = 2
"""The transaction after that which has it RUNNING."""


@pytest.fixture
def yard(database: Database, tmp_path: Path) -> Iterator[Yard]:
    """A bench with a provider and an object store."""
    bench = Bench(database)
    yield Yard(bench, kept(WatchedProvider(clock=bench.watch)), tmp_path / "objects-of-the-store")
    close_kept()


async def ordered(yard: Yard) -> list[tuple[object, ...]]:
    """How many purges wait."""
    return await yard.bench.rows("SELECT count(*) FROM purge WHERE status = 'WAITING'")


async def found_by_search(yard: Yard, foreign: list[int]) -> set[DocumentId]:
    """The documents that a caller's search finds; `foreign` takes how many hits were dropped that are nobody's."""
    searcher = Searcher(
        database=yard.bench.database,
        provider=yard.provider,
        sealer=Sealer([b"k" * 64]),
        roles=DEFAULT_ROLES,
        on_foreign=foreign.append,
    )
    answer = await searcher.search(ANA, RetrievalRequest(query="txt leak"), "t-1")
    return {hit.document_id for hit in answer.hits}


async def everything(yard: Yard) -> list[list[tuple[object, ...]]]:
    """All that a reconciliation might change."""
    tables = ("space", "document", "document_version", "operation", "purge", "outbox", "file", "audit_entry")
    return [await yard.bench.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables]  # noqa: S608 - ours


async def test_an_orphan_is_found_by_no_search_is_reported_and_is_removed_alone(yard: Yard) -> None:
    space_id = await yard.space()
    document_id = await yard.document(space_id)
    served = await yard.native(document_id)
    orphan = yard.plant(space_id, "ver_nobody", "b.txt")
    await yard.provider.start_ingest(yard.version(space_id, "ver_nobody", "b.txt"), orphan)
    yard.provider.tell("b.txt", Script(foreign_hits=True))
    foreign: list[int] = []
    assert (await found_by_search(yard, foreign), foreign) == ({document_id}, [1])
    yard.bench.watch.advance(LONG)

    dry = await yard.look()

    assert outcomes(dry) == [(UNKNOWN, "REPORTED")]
    assert dry.findings[0].version_id == "ver_nobody"
    assert await ordered(yard) == NOTHING_ORDERED

    report = await yard.look(applies=True)

    assert (report.status, report.error, outcomes(report)) == (ReconciliationStatus.DONE, None, [(UNKNOWN, "REPAIRED")])
    assert await yard.purge_all() == [orphan]
    assert await yard.held(space_id) == [served]
    assert (await yard.bench.document(document_id)).status is DocumentStatus.ACTIVE
    yard.bench.watch.advance(LONG)
    assert kinds(await yard.look(applies=True)) == {}


async def test_a_repair_is_audited_as_the_projectors(yard: Yard) -> None:
    yard.plant(await yard.space(), "ver_nobody")
    report = await yard.look(applies=True)
    told = await yard.bench.rows(
        "SELECT actor, tenant_id, resource_id, outcome, request_id FROM audit_entry "
        "WHERE action = 'reconcile.unknown_provider_document'"
    )
    assert told == [("projector", "acme", "ver_nobody", "done", report.id)]


async def test_a_dry_run_changes_nothing(yard: Yard) -> None:
    space_id = await yard.space()
    document_id = await yard.document(space_id)
    yard.plant(space_id, "ver_nobody")
    await yard.store_object(age=LONG)
    await yard.bench.file("nobody takes it")
    await yard.bench.write(lambda conn: conn.exec_driver_sql("DELETE FROM file_resource"))
    space = SpaceRef(space_id=space_id, profile=PROFILE)
    await yard.provider.remove(space, native_id=await yard.native(document_id), name_prefix="")
    yard.bench.watch.advance(LONG)
    before = await everything(yard)

    report = await yard.look()

    assert kinds(report) == {UNKNOWN: 1, MISSING: 1, "UNNEEDED_FILE": 1, "UNKNOWN_OBJECT": 1}
    assert {outcome for _, outcome in outcomes(report)} == {"REPORTED"}
    assert await everything(yard) == before


async def test_a_document_by_a_name_that_is_not_ours_is_never_touched(yard: Yard) -> None:
    space_id = await yard.space()
    native = yard.plant(space_id, "Handbook")
    report = await yard.look(applies=True)
    assert outcomes(report) == [("FOREIGN_PROVIDER_DOCUMENT", "REPORTED")]
    assert "'Handbook.txt'" in report.findings[0].explanation
    assert await yard.purge_all() == []
    assert await yard.held(space_id) == [native]


async def test_replaced_and_deleted_versions_leave_nothing_at_the_provider(yard: Yard) -> None:
    """Also what was put there late: an upload whose worker was taken for dead."""
    space_id = await yard.space()
    document_id = await yard.document(space_id)
    first = str((await yard.bench.document(document_id)).active_version_id)
    replacing = await yard.bench.replace(document_id, expected=1)
    await yard.carry_out(replacing.work.operation.id)
    second = str((await yard.bench.document(document_id)).active_version_id)
    yard.bench.watch.advance(LONG)
    await yard.purge_all()
    document = await yard.bench.document(document_id)
    await yard.bench.delete(document_id, expected=document.lock_version)
    await yard.purge_all()
    assert await yard.held(space_id) == []
    late = sorted([yard.plant(space_id, first), yard.plant(space_id, second)])
    yard.bench.watch.advance(LONG)

    report = await yard.look(applies=True)

    assert [finding.explanation.split(". ")[1] for finding in report.findings] == ["Its version is DELETED"] * 2
    assert sorted(await yard.purge_all()) == late
    assert await yard.held(space_id) == []
    assert (await yard.bench.version(first)).status is VersionStatus.DELETED


async def test_a_second_document_of_a_served_version_is_removed_by_its_id(yard: Yard) -> None:
    space_id = await yard.space()
    document_id = await yard.document(space_id)
    served = await yard.native(document_id)
    twin = yard.plant(space_id, str((await yard.bench.document(document_id)).active_version_id))
    yard.bench.watch.advance(LONG)
    assert outcomes(await yard.look(applies=True)) == [(UNKNOWN, "REPAIRED")]
    assert await yard.purge_all() == [twin]
    assert await yard.held(space_id) == [served]
    assert (await yard.bench.version(str((await yard.bench.document(document_id)).active_version_id))).status is (
        VersionStatus.READY
    )


async def test_what_is_being_worked_on_and_what_has_changed_just_now_is_not_judged(yard: Yard) -> None:
    space_id = await yard.space()
    running = await yard.bench.upload(space_id, "running")
    assert running.work.version is not None
    yard.plant(space_id, running.work.version.id)
    yard.plant(space_id, running.work.version.id)
    yard.bench.watch.advance(LONG)
    fresh = await yard.document(space_id, "fresh")
    await yard.provider.remove(
        SpaceRef(space_id=space_id, profile=PROFILE), native_id=await yard.native(fresh), name_prefix=""
    )
    report = await yard.look(applies=True)
    assert {UNKNOWN, MISSING}.isdisjoint(kinds(report))
    assert await ordered(yard) == NOTHING_ORDERED


async def test_what_is_otherwise_by_the_time_it_is_locked_is_left_alone(yard: Yard) -> None:
    """The document is deleted between the list and the lock: its own purge removes all that bears the name."""
    space_id = await yard.space()
    document_id = await yard.document(space_id)
    yard.plant(space_id, str((await yard.bench.document(document_id)).active_version_id))
    yard.bench.watch.advance(LONG)
    asked = await yard.ask(applies=True)

    async def delete_it(transaction: int) -> None:
        if transaction == FIRST_REPAIR:
            await yard.bench.delete(document_id, expected=1)

    await yard.reconciling(database=MeddledDatabase(yard.bench.database, before=delete_it)).round()

    report = await yard.report(asked)
    assert outcomes(report)[:1] == [(UNKNOWN, "CHANGED")]
    assert await yard.bench.rows("SELECT count(*) FROM purge WHERE reason = 'leftover'") == [(0,)]
    told = "SELECT outcome FROM audit_entry WHERE action = 'reconcile.unknown_provider_document'"
    assert await yard.bench.rows(told) == [("skipped",)]


async def lose(yard: Yard, *documents: DocumentId) -> None:
    """Have the provider lose what these documents serve."""
    for document_id in documents:
        space = SpaceRef(space_id=(await yard.bench.document(document_id)).space_id, profile=PROFILE)
        await yard.provider.remove(space, native_id=await yard.native(document_id), name_prefix="")


async def test_what_the_provider_has_lost_is_indexed_anew_once(yard: Yard) -> None:
    space_id = await yard.space()
    document_id, other = await yard.document(space_id), await yard.document(space_id, "other")
    await lose(yard, document_id)
    yard.bench.watch.advance(LONG)

    report = await yard.look(applies=True)

    assert outcomes(report) == [(MISSING, "REPAIRED")]
    again = await yard.look(applies=True)
    assert kinds(again) == {}  # it runs
    ((operation_id, kind, by),) = await yard.bench.rows(
        "SELECT id, type, created_by FROM operation WHERE status = 'PENDING'"
    )
    assert (kind, by) == ("DOCUMENT_REINDEX", "knowgate.reconciler")
    await yard.carry_out(OperationId(str(operation_id)))
    await yard.purge_all()
    yard.bench.watch.advance(LONG)
    await yard.purge_all()
    assert await yard.held(space_id) == sorted([await yard.native(document_id), await yard.native(other)])
    assert kinds(await yard.look(applies=True)) == {}
    actors = await yard.bench.rows("SELECT DISTINCT actor FROM audit_entry WHERE action = 'DOCUMENT_REINDEX'")
    assert actors == [("projector",)]


async def test_a_reindexing_that_has_failed_is_not_begun_again(yard: Yard) -> None:
    document_id = await yard.document(await yard.space())
    await lose(yard, document_id)
    yard.bench.watch.advance(LONG)
    await yard.look(applies=True)
    ((command,),) = await yard.bench.rows("SELECT command_id FROM outbox")
    await yard.bench.tell(yard.bench.failed(str(command), FailureReason.FILE_MISSING, FailureClass.PERMANENT))
    yard.bench.watch.advance(LONG)

    report = await yard.look(applies=True)

    assert outcomes(report) == [(MISSING, "REPORTED")]
    assert "holds its slot" in report.findings[0].explanation
    assert await yard.bench.rows("SELECT count(*) FROM operation WHERE type = 'DOCUMENT_REINDEX'") == [(1,)]


async def test_a_document_that_is_not_done_any_more_is_missing_as_well(yard: Yard) -> None:
    space_id = await yard.space()
    native = await yard.native(await yard.document(space_id))
    version = (await yard.bench.rows("SELECT id FROM document_version"))[0][0]
    yard.provider.told = [NativeDocument(native_id=native, name=f"{version}.txt", state=IngestState.RUNNING)]
    yard.bench.watch.advance(LONG)
    assert outcomes(await yard.look(applies=True)) == [(MISSING, "REPAIRED")]


async def test_a_provider_that_misses_most_of_a_space_is_not_believed(yard: Yard) -> None:
    space_id = await yard.space()
    for number in range(11):
        await yard.document(space_id, f"content {number}")
    yard.provider.told = ()
    yard.bench.watch.advance(LONG)

    report = await yard.look(applies=True)

    assert outcomes(report) == [(MISSING, "REPORTED")] * 11
    assert await yard.bench.rows("SELECT count(*) FROM operation WHERE type = 'DOCUMENT_REINDEX'") == [(0,)]


async def test_a_space_whose_provider_is_away_is_left_out_and_named(yard: Yard) -> None:
    away, there = await yard.space("away"), await yard.space("there")
    await yard.document(away)
    yard.plant(there, "ver_nobody")
    yard.provider.away = [away]
    yard.bench.watch.advance(LONG)

    report = await yard.look(applies=True)

    assert report.status is ReconciliationStatus.DONE
    assert report.error == f"Not looked at: space {away} (The retrieval provider is not available right now.)."
    assert outcomes(report) == [(UNKNOWN, "REPAIRED")]


async def test_a_reconciliation_of_a_tenant_sees_nothing_of_others(yard: Yard) -> None:
    yard.plant(await yard.space(), "ver_nobody")
    await yard.store_object(age=LONG)
    assert kinds(await yard.look(tenant="globex", applies=True)) == {}
    assert kinds(await yard.look(tenant="acme")) == {UNKNOWN: 1}


async def test_a_projector_that_dies_in_the_middle_leaves_the_rest_to_the_next_one(yard: Yard) -> None:
    first, second = await yard.space("one"), await yard.space("two")
    yard.plant(first, "ver_one")
    yard.plant(second, "ver_two")
    asked = await yard.ask(applies=True)
    lists = 0

    async def die_at_the_second() -> None:
        nonlocal lists
        lists += 1
        if lists == 2:
            raise asyncio.CancelledError

    yard.provider.then = die_at_the_second
    with pytest.raises(asyncio.CancelledError):
        await yard.reconciling().round()
    left = await yard.report(asked)
    assert (left.status, outcomes(left)) == (ReconciliationStatus.RUNNING, [(UNKNOWN, "REPAIRED")])

    yard.provider.then = None
    await yard.reconciling().round()

    report = await yard.report(asked)
    assert report.status is ReconciliationStatus.DONE
    assert outcomes(report) == [(UNKNOWN, "REPAIRED")] * 2
    assert {finding.version_id for finding in report.findings} == {"ver_one", "ver_two"}
    assert await ordered(yard) == [(2,)]


async def test_a_reconciler_whose_lease_was_taken_repairs_nothing(yard: Yard) -> None:
    yard.plant(await yard.space(), "ver_nobody")
    asked = await yard.ask(applies=True)
    transactions = 0

    def guard(_: Connection) -> None:
        nonlocal transactions
        transactions += 1
        if transactions > 1:
            raise LeaseLost

    with pytest.raises(LeaseLost):
        await yard.reconciling(guard=guard).round()
    assert await ordered(yard) == NOTHING_ORDERED
    assert (await yard.report(asked)).status is ReconciliationStatus.RUNNING


async def test_a_database_that_is_away_for_a_moment_does_not_end_a_reconciliation(yard: Yard) -> None:
    yard.plant(await yard.space(), "ver_nobody")
    asked = await yard.ask(applies=True)
    transactions = 0

    def guard(_: Connection) -> None:
        nonlocal transactions
        transactions += 1
        if transactions == 2:
            raise StoreUnavailable

    reconciling = yard.reconciling(guard=guard)
    with pytest.raises(StoreUnavailable):
        await reconciling.round()
    await reconciling.round()
    assert outcomes(await yard.report(asked)) == [(UNKNOWN, "REPAIRED")]


async def test_a_repair_that_fails_by_itself_does_not_hold_up_the_others(yard: Yard) -> None:
    space_id = await yard.space()
    yard.plant(space_id, "ver_bad")
    yard.plant(space_id, "ver_good")
    asked = await yard.ask(applies=True)

    def refuse(conn: Connection) -> None:
        if conn.exec_driver_sql("SELECT count(*) FROM purge WHERE version_id = 'ver_bad'").scalar_one():
            raise ValueError("refused")

    with capture_logs() as logs:
        await yard.reconciling(database=MeddledDatabase(yard.bench.database, after=refuse)).round()

    assert [log["event"] for log in logs[:2]] == ["projector.repairs.failed", "projector.repair.failed"]
    report = await yard.report(asked)
    assert {finding.version_id: finding.outcome.value for finding in report.findings} == {
        "ver_bad": "FAILED",
        "ver_good": "REPAIRED",
    }
    assert await yard.bench.rows("SELECT version_id FROM purge") == [("ver_good",)]


async def test_a_reconciliation_that_crashes_is_failed_and_does_not_come_again(yard: Yard) -> None:
    asked = await yard.ask(applies=True)

    yard.bench.settings = yard.bench.settings.model_copy(update={"overdue_after": "not a duration"})
    with capture_logs():
        await yard.reconciling().round()
    report = await yard.report(asked)
    assert (report.status, str(report.error).partition(",")[0]) == (
        ReconciliationStatus.FAILED,
        "It ended unexpectedly",
    )
    assert [ended.status for ended in yard.ended] == [ReconciliationStatus.FAILED]


async def test_files_and_objects_that_nothing_names_are_deleted_and_young_ones_stay(yard: Yard) -> None:
    document_id = await yard.document(await yard.space())
    kept_key = (await yard.bench.version(str((await yard.bench.document(document_id)).active_version_id))).source
    unneeded = (await yard.bench.file("nobody takes it")).file
    await yard.store_object(unneeded.object_key)
    await yard.bench.write(lambda conn: conn.exec_driver_sql("DELETE FROM file_resource"))
    yard.bench.watch.advance(LONG)
    unknown = await yard.store_object(age=timedelta(hours=24, seconds=1))
    young = await yard.store_object(age=timedelta(hours=23))
    foreign = await yard.store_object("objects/backup/mine", age=LONG)

    report = await yard.look(applies=True)

    assert sorted(outcomes(report)) == [
        ("UNKNOWN_OBJECT", "REPAIRED"),
        ("UNKNOWN_OBJECT", "REPORTED"),
        ("UNNEEDED_FILE", "REPAIRED"),
    ]
    assert sorted(await yard.purge_all()) == sorted([unneeded.object_key, unknown])
    left = {stat.key async for stat in yard.store.list()}
    assert left == {kept_key.object_key, young, foreign}
    assert await yard.bench.rows("SELECT count(*) FROM file") == [(1,)]
    assert kinds(await yard.look(applies=True)) == {"UNKNOWN_OBJECT": 1}


async def test_a_part_of_an_upload_is_named(yard: Yard) -> None:
    key = await yard.store_object(age=LONG)
    await yard.bench.write(
        lambda conn: conn.exec_driver_sql(
            "INSERT INTO upload (id, tenant_id, subject, file_name, length, received, created_at, expires_at) "
            "VALUES ('upl_1', 'acme', 'ana', 'a.txt', 9, 5, 0, 0)"
        )
    )
    await yard.bench.write(
        lambda conn: conn.exec_driver_sql(f"INSERT INTO upload_part VALUES ('upl_1', 0, 5, '{key}')")  # noqa: S608
    )
    assert kinds(await yard.look(applies=True)) == {}


async def test_a_file_whose_object_is_gone_is_reported(yard: Yard) -> None:
    document_id = await yard.document(await yard.space())
    version = await yard.bench.version(str((await yard.bench.document(document_id)).active_version_id))
    await yard.store.delete(version.source.object_key)
    yard.bench.watch.advance(timedelta(hours=1))
    report = await yard.look(applies=True)
    assert outcomes(report) == [("MISSING_OBJECT", "REPORTED")]
    assert report.findings[0].file_id == version.file_id


async def test_an_operation_that_stands_still_is_told_with_its_reason(yard: Yard) -> None:
    accepted = await yard.bench.upload(await yard.space())
    assert accepted.work.version is not None
    await yard.store_object(accepted.work.version.source.object_key)
    yard.bench.watch.advance(timedelta(minutes=16))
    report = await yard.look(applies=True)
    (finding,) = report.findings
    assert (finding.kind.value, finding.outcome.value) == ("OVERDUE_OPERATION", "REPORTED")
    assert finding.operation_id == accepted.work.operation.id
    assert finding.explanation.startswith("NO_WORKER since 2026-03-01T12:00:00.000Z.")


async def test_one_of_all_tenants_comes_by_itself_every_so_often_and_repairs(yard: Yard) -> None:
    space_id = await yard.space()
    yard.plant(space_id, "ver_one")
    reconciling = yard.reconciling(every=timedelta(hours=1))
    asked = "SELECT tenant_id, applies, requested_by, status FROM reconciliation ORDER BY created_at"
    await reconciling.round()
    assert await yard.bench.rows(asked) == []

    yard.bench.watch.advance(timedelta(hours=1))
    await reconciling.round()
    await yard.reconciling(every=timedelta(hours=1)).round()
    assert [(tenant, bool(applies), by, status) for tenant, applies, by, status in await yard.bench.rows(asked)] == [
        (None, True, "knowgate.reconciler", "DONE")
    ]
    assert await ordered(yard) == [(1,)]

    yard.bench.watch.advance(timedelta(hours=1))
    await reconciling.round()
    assert len(await yard.bench.rows(asked)) == 2


async def test_old_reports_are_forgotten_and_unfinished_ones_are_not(yard: Yard) -> None:
    await yard.look()
    left = await yard.ask(applies=False)
    yard.bench.watch.advance(timedelta(days=31))
    chores = Housekeeping(
        database=yard.bench.database,
        around=yard.bench.around,
        guard=lambda _: None,
        inbox_kept=timedelta(days=1),
        reconciliations_kept=timedelta(days=30),
    )
    await chores.sweep()
    assert await yard.bench.rows("SELECT id FROM reconciliation") == [(left,)]


async def test_purges_of_a_failed_delete_go_on_until_the_provider_has_let_go(yard: Yard) -> None:
    space_id = await yard.space()
    document_id = await yard.document(space_id)
    deleting = (await yard.bench.delete(document_id, expected=1)).work.operation
    for _ in range(40):
        yard.bench.watch.advance(timedelta(hours=1))
        (command,) = await yard.bench.issue_purges()
        await yard.bench.tell(yard.bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
        (purge,) = await yard.bench.database.read(partial(find_purges_of, operation_ids=[deleting.id]))
        assert purge.due_at - yard.bench.watch.now <= timedelta(minutes=5)
    assert (await yard.bench.operation(deleting.id)).status.value == "FAILED"
    assert UNKNOWN not in kinds(await yard.look(applies=True))  # its own purge will remove it
    yard.bench.watch.advance(timedelta(hours=1))
    await yard.purge_all()
    assert await yard.held(space_id) == []
    assert (await yard.bench.document(document_id)).status is DocumentStatus.DELETED


async def test_the_active_projector_carries_out_what_was_asked_for_and_a_worker_removes_the_orphan(
    stage: Stage, tmp_path: Path
) -> None:
    stage.project()
    stage.answer(Step.PROVISION, Step.PURGE)
    accepted = await stage.bench.create_space()
    await stage.becomes("SELECT status FROM space", [("ACTIVE",)])
    beside = Yard(stage.bench, stage.provider, tmp_path / "objects-of-the-store")
    orphan = beside.plant(accepted.work.space.id, "ver_nobody")

    await beside.ask(applies=True, tenant="acme")

    await stage.becomes("SELECT status FROM reconciliation", [("DONE",)])
    await stage.becomes("SELECT native_document_id, status FROM purge", [(orphan, "DONE")])
    assert [command.split(".")[1] for command in stage.answerer.taken] == ["provision", "purge"]
