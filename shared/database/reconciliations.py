"""Reconciliations as rows: asked for, carried out by the projector, and what they found."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from shared.contracts.enums import FindingKind, ReconciliationStatus
from shared.contracts.ids import ReconciliationId, TenantId
from shared.contracts.operating import Finding
from shared.database.codec import RowCodec, one
from shared.database.locking import Lock
from shared.database.pages import read_page
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import from_microseconds, table_of, to_microseconds
from shared.database.tables.pipeline import ReconciliationRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """A comparison of what the gateway knows with what provider and object store hold."""

    id: ReconciliationId
    tenant_id: TenantId | None
    """None: of all tenants."""
    status: ReconciliationStatus = ReconciliationStatus.REQUESTED
    applies: bool
    """Repair what is found, instead of only reporting it."""
    requested_by: str
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None
    totals: Mapping[FindingKind, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def _read_totals(text: str) -> Mapping[FindingKind, int]:
    return {FindingKind(kind): int(number) for kind, number in orjson.loads(text).items()}


def _write_totals(totals: Mapping[FindingKind, int]) -> str:
    return orjson.dumps({kind.value: number for kind, number in totals.items()}).decode()


def _read_findings(text: str) -> tuple[Finding, ...]:
    return tuple(Finding.model_validate_json(orjson.dumps(found)) for found in orjson.loads(text))


def _write_findings(findings: Sequence[Finding]) -> str:
    return f"[{','.join(finding.model_dump_json() for finding in findings)}]"


_TABLE = table_of(ReconciliationRow)
_CODEC = RowCodec(
    _TABLE,
    Reconciliation,
    {
        "totals": one("totals", _read_totals, _write_totals),
        "findings": one("findings", _read_findings, _write_findings),
    },
)
_ROWS = TableRows(_TABLE, _CODEC.columns)
_CHANGING: Final = ("status", "started_at", "ended_at", "error", "totals", "findings")
_NO_FINDINGS: Final = "[]"
_UNFINISHED: Final = "status IN ('REQUESTED', 'RUNNING')"


def insert_reconciliation(conn: Connection, reconciliation: Reconciliation) -> None:
    """Store a new reconciliation."""
    _ROWS.insert(conn, _CODEC.write([reconciliation]))


def load_reconciliations(
    conn: Connection, ids: Collection[ReconciliationId], *, lock: Lock = Lock.NONE
) -> dict[ReconciliationId, Reconciliation]:
    """The reconciliations with these ids, with their findings."""
    return {one.id: one for one in _CODEC.read(_ROWS.by_key(conn, ids, lock))}


def page_of_reconciliations(
    conn: Connection, tenant_id: TenantId, *, of_all: bool, page: int, page_size: int
) -> tuple[list[Reconciliation], int]:
    """One page of the tenant's reconciliations, the newest first, without their findings, and how many there are.

    `of_all`: those that are of all tenants are among them.
    """
    columns = _CODEC.columns[:-1]
    rows, total = read_page(
        conn,
        _TABLE,
        columns,
        "(tenant_id = :tenant OR tenant_id IS NULL)" if of_all else "tenant_id = :tenant",
        order=("created_at", "id"),
        page=page,
        page_size=page_size,
        newest_first=True,
        tenant=tenant_id,
    )
    return _CODEC.read([_without_findings(row) for row in rows]), total


def _without_findings(row: Sequence[Any]) -> Sequence[Any]:
    """The findings are the last column; they may be many, and a list does not show them."""
    return (*row, _NO_FINDINGS)


def next_reconciliation(conn: Connection) -> Reconciliation | None:
    """The oldest that has not ended: asked for, or left RUNNING by a projector that is gone."""
    rows = _ROWS.where(conn, _UNFINISHED, order=("created_at", "id"), limit=1)
    return next(iter(_CODEC.read(rows)), None)


def save_reconciliation(conn: Connection, reconciliation: Reconciliation) -> None:
    """Store how far a reconciliation has come and what it has found."""
    _ROWS.update(conn, _CHANGING, _CODEC.write([reconciliation], (*_CHANGING, "id")))


def last_of_all_tenants(conn: Connection) -> datetime | None:
    """When the last reconciliation of all tenants was asked for; None when there was none."""
    text = "SELECT max(created_at) FROM reconciliation WHERE tenant_id IS NULL"
    return from_microseconds(run(conn, text).scalar_one())


def forget_reconciliations(conn: Connection, before: datetime, *, limit: int) -> int:
    """Remove up to `limit` that have ended and were asked for before then; how many it was."""
    text = f"""
        DELETE FROM reconciliation WHERE id IN (
            SELECT id FROM reconciliation WHERE created_at < :before AND NOT {_UNFINISHED} LIMIT :limit
        )
    """  # noqa: S608 - a constant
    return run(conn, text, before=to_microseconds(before), limit=limit).rowcount
