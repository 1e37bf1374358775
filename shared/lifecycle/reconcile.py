"""Moves a reconciliation on: asked for by time alone, begun, its differences put right or only noted, ended."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import FindingKind, FindingOutcome, ReconciliationStatus, ResourceType
from shared.contracts.ids import ReconciliationId
from shared.database.audit import write_entries
from shared.database.locking import Lock
from shared.database.reconciliations import (
    Reconciliation,
    insert_reconciliation,
    last_of_all_tenants,
    load_reconciliations,
    save_reconciliation,
)
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.domain.reconciling import REPORTED, Difference, Mended, Tally
from shared.lifecycle.mending import Mending
from shared.lifecycle.reconcile_files import delete_unknown, release_unneeded
from shared.lifecycle.reconcile_space import SYSTEM, purge_unneeded, reindex_missing
from shared.lifecycle.surroundings import Surroundings

Repair = Callable[[Connection, Difference, Mending], Mended]

REPAIRS: Final[Mapping[FindingKind, Repair | None]] = MappingProxyType(
    {
        FindingKind.OVERDUE_OPERATION: None,
        FindingKind.UNKNOWN_PROVIDER_DOCUMENT: purge_unneeded,
        FindingKind.FOREIGN_PROVIDER_DOCUMENT: None,
        FindingKind.MISSING_PROVIDER_DOCUMENT: reindex_missing,
        FindingKind.UNNEEDED_FILE: release_unneeded,
        FindingKind.MISSING_OBJECT: None,
        FindingKind.UNKNOWN_OBJECT: delete_unknown,
    }
)
"""What puts a difference right; None: only a person can decide, or it comes right by itself."""

_TOLD: Final[Mapping[FindingOutcome, Outcome]] = MappingProxyType(
    {
        FindingOutcome.REPAIRED: Outcome.DONE,
        FindingOutcome.CHANGED: Outcome.SKIPPED,
        FindingOutcome.FAILED: Outcome.REFUSED,
    }
)
"""How the audit calls what became of a repair. What was only reported is in the report and not in the audit."""

LONGEST_ERROR: Final = 2000


def is_due(conn: Connection, every: timedelta, since: datetime, now: datetime) -> bool:
    """Whether the last reconciliation of all tenants, or else `since`, is so long ago."""
    last = last_of_all_tenants(conn)
    return now - (since if last is None else last) >= every


def request_when_due(conn: Connection, every: timedelta, since: datetime, around: Surroundings) -> None:
    """Ask for a reconciliation of all tenants that applies, when it is time for one."""
    now = around.clock()
    if is_due(conn, every, since, now):
        new = Reconciliation(
            id=ReconciliationId(around.new_id("rec")), tenant_id=None, applies=True, requested_by=SYSTEM, created_at=now
        )
        insert_reconciliation(conn, new)


def begin_reconciliation(conn: Connection, reconciliation_id: ReconciliationId, around: Surroundings) -> Reconciliation:
    """Have it RUNNING. One whose projector died begins anew; what that one had repaired stays in the report."""
    found = load_reconciliations(conn, [reconciliation_id], lock=Lock.UPDATE)[reconciliation_id]
    begun = replace(found, status=ReconciliationStatus.RUNNING, started_at=around.clock())
    return _with_tally(conn, begun, _tally(found).repaired())


def add_differences(
    conn: Connection, reconciliation: Reconciliation, differences: Iterable[Difference], mending: Mending
) -> Reconciliation:
    """Put differences right, if the reconciliation applies, and note in the same transaction what became of them."""
    if not reconciliation.applies:
        return note_differences(conn, reconciliation, differences, REPORTED, mending)
    mended = [(difference, _repair(conn, difference, mending)) for difference in differences]
    return _noted(conn, reconciliation, mended, mending)


def note_differences(
    conn: Connection,
    reconciliation: Reconciliation,
    differences: Iterable[Difference],
    mended: Mended,
    mending: Mending,
) -> Reconciliation:
    """Note that this became of all these differences."""
    return _noted(conn, reconciliation, [(difference, mended) for difference in differences], mending)


def count_more(conn: Connection, reconciliation: Reconciliation, kind: FindingKind, number: int) -> Reconciliation:
    """Count so many more of a kind, which the report does not name."""
    return _with_tally(conn, reconciliation, _tally(reconciliation).counting(kind, number))


def end_reconciliation(
    conn: Connection,
    reconciliation: Reconciliation,
    status: ReconciliationStatus,
    error: str | None,
    around: Surroundings,
) -> Reconciliation:
    """Have it DONE or FAILED. `error` says what could not be looked at, or why it failed."""
    shortened = None if error is None else error[:LONGEST_ERROR]
    ended = replace(reconciliation, status=status, error=shortened, ended_at=around.clock())
    save_reconciliation(conn, ended)
    return ended


def _repair(conn: Connection, difference: Difference, mending: Mending) -> Mended:
    repair = REPAIRS[difference.kind]
    return REPORTED if repair is None else repair(conn, difference, mending)


def _noted(
    conn: Connection, reconciliation: Reconciliation, mended: Sequence[tuple[Difference, Mended]], mending: Mending
) -> Reconciliation:
    write_entries(conn, [_told(difference, how, mending) for difference, how in mended if how.outcome in _TOLD])
    found = [how.finding(difference) for difference, how in mended]
    return _with_tally(conn, reconciliation, _tally(reconciliation).plus(found))


def _tally(reconciliation: Reconciliation) -> Tally:
    return Tally(reconciliation.totals, reconciliation.findings)


def _with_tally(conn: Connection, reconciliation: Reconciliation, tally: Tally) -> Reconciliation:
    after = replace(reconciliation, totals=tally.totals, findings=tally.findings)
    save_reconciliation(conn, after)
    return after


def _told(difference: Difference, mended: Mended, mending: Mending) -> AuditEntry:
    is_about_version = difference.version_id is not None
    return AuditEntry(
        id=mending.around.new_id("aud"),
        tenant_id=difference.tenant_id,
        at=mending.around.clock(),
        origin=Origin(actor=Actor.PROJECTOR, request_id=mending.reconciliation_id),
        action=f"reconcile.{difference.kind.value.lower()}",
        outcome=_TOLD[mended.outcome],
        resource_type=ResourceType.VERSION if is_about_version else None,
        resource_id=difference.version_id or difference.file_id or difference.object_key,
        after=mended.outcome.value,
        details={
            "space": difference.space_id,
            "document": difference.document_id,
            "nativeDocument": difference.native_document_id,
        },
    )
