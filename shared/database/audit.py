"""Audit entries as rows: appended with their own hash, and noted as not yet in the chain."""

import hashlib
from collections.abc import Mapping, Sequence

import orjson
from sqlalchemy import Connection

from shared.database.rows import TableRows
from shared.database.tables.access import AuditEntryRow, AuditUnsealedRow
from shared.database.tables.columns import member_value, table_of, to_microseconds
from shared.domain.audit import AuditEntry
from shared.telemetry.stamps import trace_id_of

Cell = str | int | None | Mapping[str, str | int | float | bool | None]

COLUMNS = tuple(column.name for column in table_of(AuditEntryRow).columns)
"""Every column, `details` as an object; `content_hash` is the last."""

_DETAILS = COLUMNS.index("details")
_ENTRIES = TableRows(table_of(AuditEntryRow), COLUMNS)
_UNSEALED = TableRows(table_of(AuditUnsealedRow), ("entry_id",), key=("entry_id",))


def write_entries(conn: Connection, entries: Sequence[AuditEntry]) -> None:
    """Append entries; the sealer moves them into the chain."""
    if not entries:
        return
    rows = [_row(entry) for entry in entries]
    columns: list[Sequence[object]] = list(zip(*rows, strict=True))
    columns[_DETAILS] = [orjson.dumps(details).decode() for details in columns[_DETAILS]]
    _ENTRIES.insert(conn, columns)
    _UNSEALED.insert(conn, [columns[0]])


def content_hash(cells: Mapping[str, Cell]) -> str:
    """SHA-256, in hex, of every column but the hash itself, as JSON with sorted keys and no space."""
    return hashlib.sha256(orjson.dumps(cells, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _row(entry: AuditEntry) -> tuple[Cell, ...]:
    origin, caller = entry.origin, entry.origin.caller
    cells: dict[str, Cell] = {
        "id": entry.id,
        "tenant_id": entry.tenant_id,
        "at": to_microseconds(entry.at),
        "actor": origin.actor.value,
        "service": None if caller is None else caller.service,
        "subject": None if caller is None else caller.subject,
        "session_id": None if caller is None else caller.session_id or None,
        "tool_call_id": origin.tool_call_id,
        "request_id": origin.request_id,
        "trace_id": None if origin.traceparent is None else trace_id_of(origin.traceparent),
        "action": entry.action,
        "resource_type": member_value(entry.resource_type),
        "resource_id": entry.resource_id,
        "operation_id": entry.operation_id,
        "parent_operation_id": entry.parent_operation_id,
        "idempotency_digest": origin.idempotency_digest,
        "before": entry.before,
        "after": entry.after,
        "outcome": entry.outcome.value,
        "details": dict(entry.details),
    }
    return (*cells.values(), content_hash(cells))
