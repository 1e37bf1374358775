"""Audit entries: everything they tell is stored and covered by their hash, and nothing changes them."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from shared.contracts.enums import ResourceType
from shared.contracts.ids import OperationId, SubjectId, TenantId
from shared.database.audit import content_hash, write_entries
from shared.database.database import Database
from shared.database.errors import UniqueViolation
from shared.database.settings import SQLITE
from shared.database.sql import run
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.domain.identity import Caller
from tests.integration.database.samples import NOW

FULL = AuditEntry(
    id="aud_1",
    tenant_id=TenantId("acme"),
    at=NOW,
    origin=Origin(
        actor=Actor.API,
        caller=Caller(tenant=TenantId("acme"), subject=SubjectId("alice"), session_id="s-1", service="agents"),
        tool_call_id="call-1",
        request_id="req-1",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        idempotency_digest="d1",
    ),
    action="document.uploaded",
    outcome=Outcome.DENIED,
    resource_type=ResourceType.DOCUMENT,
    resource_id="doc_1",
    operation_id=OperationId("op_1"),
    parent_operation_id=OperationId("op_0"),
    before="CREATING",
    after="ACTIVE",
    details={"zahl": 3, "anteil": 0.1, "text": '泵 "x"', "ja": True, "nichts": None},
)
BARE = AuditEntry(
    id="aud_2", tenant_id=None, at=NOW, origin=Origin(actor=Actor.PROJECTOR), action="x", outcome=Outcome.DONE
)


def rows(database: Database) -> dict[str, dict[str, object]]:
    """The stored entries by id, `details` as an object."""
    found = database.read_blocking(lambda conn: run(conn, "SELECT * FROM audit_entry ORDER BY id").mappings().all())
    entries = [dict(row) for row in found]
    for entry in entries:
        if isinstance(entry["details"], str):
            entry["details"] = json.loads(entry["details"])
    return {str(entry["id"]): entry for entry in entries}


def test_everything_that_an_entry_tells_is_stored(database: Database) -> None:
    database.write_blocking(lambda conn: write_entries(conn, [FULL, BARE]))
    stored = rows(database)
    assert {name: value for name, value in stored["aud_1"].items() if name != "content_hash"} == {
        "id": "aud_1",
        "tenant_id": "acme",
        "at": 1_772_368_215_123_456,
        "actor": "api",
        "service": "agents",
        "subject": "alice",
        "session_id": "s-1",
        "tool_call_id": "call-1",
        "request_id": "req-1",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "action": "document.uploaded",
        "resource_type": "DOCUMENT",
        "resource_id": "doc_1",
        "operation_id": "op_1",
        "parent_operation_id": "op_0",
        "idempotency_digest": "d1",
        "before": "CREATING",
        "after": "ACTIVE",
        "outcome": "denied",
        "details": {"zahl": 3, "anteil": 0.1, "text": '泵 "x"', "ja": True, "nichts": None},
    }
    told = {name for name, value in stored["aud_2"].items() if value not in (None, {})}
    assert told == {"id", "at", "actor", "action", "outcome", "content_hash"}


def test_the_hash_covers_every_other_column_and_can_be_computed_from_the_row(database: Database) -> None:
    database.write_blocking(lambda conn: write_entries(conn, [FULL]))
    row = rows(database)["aud_1"]
    stored_hash = row.pop("content_hash")
    assert content_hash(row) == stored_hash  # type: ignore[arg-type]
    for name in row:
        changed = row | {name: {"other": 1} if name == "details" else "other"}
        assert content_hash(changed) != stored_hash, name  # type: ignore[arg-type]


def test_every_entry_waits_to_be_sealed(database: Database) -> None:
    database.write_blocking(lambda conn: write_entries(conn, [FULL, BARE]))
    database.write_blocking(lambda conn: write_entries(conn, []))
    waiting = database.read_blocking(lambda conn: run(conn, "SELECT entry_id FROM audit_unsealed").all())
    assert {row[0] for row in waiting} == {"aud_1", "aud_2"}


def test_an_entry_is_written_once(database: Database) -> None:
    database.write_blocking(lambda conn: write_entries(conn, [FULL]))
    with pytest.raises(UniqueViolation) as caught:
        database.write_blocking(lambda conn: write_entries(conn, [replace(BARE, id="aud_1")]))
    assert caught.value.constraint == "audit_entry_pkey"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET action = 'y'",
        "DELETE FROM audit_entry",
        "UPDATE audit_entry SET details = '{}'",
        "TRUNCATE audit_entry CASCADE",
        "INSERT INTO audit_entry SELECT * FROM audit_entry WHERE true ON CONFLICT (id) DO UPDATE SET action = 'y'",
    ],
)
def test_nothing_that_was_written_can_be_changed_or_removed(database: Database, statement: str) -> None:
    if database.dialect == SQLITE and statement.startswith("TRUNCATE"):
        statement = "REPLACE INTO audit_entry SELECT * FROM audit_entry"
    database.write_blocking(lambda conn: write_entries(conn, [FULL]))
    before = rows(database)

    def change(conn: Connection) -> None:
        run(conn, statement)

    with pytest.raises(DBAPIError, match="append-only"):
        database.write_blocking(change)
    assert rows(database) == before
