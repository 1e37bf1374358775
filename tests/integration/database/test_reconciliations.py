"""Reconciliations as rows: asked for, taken up in their order, kept with what they have found."""

from dataclasses import replace

from shared.contracts.enums import FindingKind, FindingOutcome, ReconciliationStatus
from shared.contracts.ids import ReconciliationId, TenantId
from shared.contracts.operating import Finding
from shared.database.database import Database
from shared.database.reconciliations import (
    Reconciliation,
    insert_reconciliation,
    load_reconciliations,
    next_reconciliation,
    page_of_reconciliations,
    save_reconciliation,
)
from tests.integration.database.samples import NOW, TENANT, after

FINDING = Finding(
    kind=FindingKind.UNNEEDED_FILE,
    outcome=FindingOutcome.REPAIRED,
    file_id="fil_1",
    explanation="No version and no resource names the file: “Bericht”.",
)


def a_reconciliation(name: str = "rec_1", tenant: TenantId | None = TENANT, **more: object) -> Reconciliation:
    return Reconciliation(
        id=ReconciliationId(name),
        tenant_id=tenant,
        applies=True,
        requested_by="root",
        created_at=NOW,
        **more,  # type: ignore[arg-type]
    )


def ended(asked: Reconciliation) -> Reconciliation:
    return replace(
        asked,
        status=ReconciliationStatus.DONE,
        started_at=after(1),
        ended_at=after(2),
        totals={FindingKind.UNNEEDED_FILE: 1, FindingKind.MISSING_OBJECT: 0},
        findings=(FINDING,),
    )


def store(database: Database, *reconciliations: Reconciliation) -> None:
    for one in reconciliations:
        database.write_blocking(lambda conn, one=one: insert_reconciliation(conn, one))  # type: ignore[misc]


def listed(database: Database, *, of_all: bool, page: int = 1, page_size: int = 20) -> tuple[list[str], int]:
    found, total = database.read_blocking(
        lambda conn: page_of_reconciliations(conn, TENANT, of_all=of_all, page=page, page_size=page_size)
    )
    return [one.id for one in found], total


def test_a_reconciliation_comes_back_as_it_was_stored_and_as_it_was_saved(database: Database) -> None:
    asked = a_reconciliation()
    store(database, asked)
    ids = {asked.id, ReconciliationId("rec_9")}
    assert database.read_blocking(lambda conn: load_reconciliations(conn, ids)) == {asked.id: asked}
    database.write_blocking(lambda conn: save_reconciliation(conn, ended(asked)))
    assert database.read_blocking(lambda conn: load_reconciliations(conn, ids)) == {asked.id: ended(asked)}


def test_a_failure_is_kept_with_its_reason(database: Database) -> None:
    asked = a_reconciliation()
    store(database, asked)
    failed = replace(asked, status=ReconciliationStatus.FAILED, ended_at=after(1), error="The provider is away.")
    database.write_blocking(lambda conn: save_reconciliation(conn, failed))
    assert database.read_blocking(lambda conn: load_reconciliations(conn, {asked.id})) == {asked.id: failed}


def test_the_oldest_that_has_not_ended_comes_next_also_when_its_projector_is_gone(database: Database) -> None:
    assert database.read_blocking(next_reconciliation) is None
    left = a_reconciliation("rec_2", status=ReconciliationStatus.RUNNING)
    waits = replace(a_reconciliation("rec_1"), created_at=after(5))
    store(database, waits, left, a_reconciliation("rec_0", status=ReconciliationStatus.FAILED))
    assert database.read_blocking(next_reconciliation) == left
    database.write_blocking(lambda conn: save_reconciliation(conn, ended(left)))
    assert database.read_blocking(next_reconciliation) == waits


def test_a_page_holds_the_newest_first_without_what_they_found(database: Database) -> None:
    store(database, *(replace(a_reconciliation(f"rec_{number}"), created_at=after(number)) for number in range(3)))
    database.write_blocking(lambda conn: save_reconciliation(conn, ended(a_reconciliation("rec_2"))))
    assert listed(database, of_all=False, page_size=2) == (["rec_2", "rec_1"], 3)
    assert listed(database, of_all=False, page=2, page_size=2) == (["rec_0"], 3)
    assert listed(database, of_all=False, page=3, page_size=2) == ([], 3)
    ((newest, *_), _) = database.read_blocking(
        lambda conn: page_of_reconciliations(conn, TENANT, of_all=False, page=1, page_size=1)
    )
    assert (newest.findings, newest.totals[FindingKind.UNNEEDED_FILE]) == ((), 1)


def test_those_of_others_are_never_listed_and_those_of_all_only_when_asked_for(database: Database) -> None:
    store(database, a_reconciliation(), a_reconciliation("rec_2", TenantId("globex")), a_reconciliation("rec_3", None))
    assert listed(database, of_all=False) == (["rec_1"], 1)
    assert listed(database, of_all=True) == (["rec_3", "rec_1"], 2)
