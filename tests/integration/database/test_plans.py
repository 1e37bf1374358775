"""Every query of a caller is answered from indexes: what others hold costs nothing.

The tables are filled with foreign rows first, so that the planners have a reason to avoid reading them all.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, event

from shared.contracts.enums import (
    DocumentStatus,
    LetterKind,
    LetterStatus,
    OperationStatus,
    OperationType,
    ResourceType,
    Step,
)
from shared.contracts.ids import DocumentId, LetterId, OperationId, SpaceId, TenantId, VersionId
from shared.contracts.metadata import MetadataFilter
from shared.database.audit import write_entries
from shared.database.audit_chain import chain_heads, find_unsealed, has_unsealed
from shared.database.database import Database
from shared.database.dead_letters import DeadLetter, insert_dead_letters, managed_letter, page_of_letters
from shared.database.documents import holds_documents
from shared.database.grants import insert_grants
from shared.database.inbox import known_events
from shared.database.listings import (
    list_documents,
    list_operations,
    list_spaces,
    view_document,
    visible_document,
    visible_operation,
    visible_space,
)
from shared.database.managed import is_space_managed, managed_operation
from shared.database.operations import (
    count_unfinished,
    count_unfinished_of_tenant,
    find_deletes_at_rest,
    find_ended,
    find_retries,
    find_running,
    insert_operations,
    load_operations,
)
from shared.database.outbox import find_commands, find_published, insert_commands
from shared.database.outbox_queue import count_open, take_due
from shared.database.purges import due_purges, find_purges_of, insert_purges
from shared.database.reached import is_document_in_reach, is_space_in_reach
from shared.database.searchable import searchable_version, searchable_versions, still_searchable
from shared.database.settings import SQLITE
from shared.database.transitions import visible_transitions
from shared.database.unfinished import look_into, page_of_unfinished
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.domain.purge import Purge, PurgeStatus
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.database.samples import (
    ALICE,
    EDITORS,
    NOW,
    READERS,
    TENANT,
    a_command,
    a_grant,
    a_purge,
    a_space,
    after,
    an_operation,
    reach_of,
    store_served,
    together,
)

REACH = reach_of(ALICE, READERS)
DELETE = {"type": OperationType.DOCUMENT_DELETE, "version_id": None, "work": None}
OTHERS = 1500
Query = Callable[[Connection], object]

QUERIES: dict[str, Query] = {
    "list_spaces": lambda conn: list_spaces(conn, REACH, page=1, page_size=20),
    "list_documents": lambda conn: list_documents(conn, REACH, SpaceId("spc_1"), page=1, page_size=20),
    "list_documents_granted_singly": lambda conn: list_documents(conn, REACH, SpaceId("spc_2"), page=1, page_size=20),
    "list_operations": lambda conn: list_operations(conn, REACH, statuses=set(OperationStatus), page=1, page_size=20),
    "visible_space": lambda conn: visible_space(conn, REACH, SpaceId("spc_1")),
    "visible_document": lambda conn: visible_document(conn, REACH, DocumentId("doc_1")),
    "is_space_managed": lambda conn: is_space_managed(conn, REACH, SpaceId("spc_1")),
    "is_space_in_reach": lambda conn: is_space_in_reach(conn, REACH, SpaceId("spc_1")),
    "is_document_in_reach": lambda conn: is_document_in_reach(conn, REACH, DocumentId("doc_1")),
    "holds_documents": lambda conn: holds_documents(conn, SpaceId("spc_1"), {DocumentStatus.ACTIVE}),
    "view_document": lambda conn: view_document(conn, REACH, DocumentId("doc_1")),
    "visible_operation": lambda conn: visible_operation(conn, REACH, OperationId("op_1")),
    "searchable_versions": lambda conn: searchable_versions(conn, REACH),
    "searchable_versions_filtered": lambda conn: searchable_versions(
        conn,
        REACH,
        space_ids=[SpaceId("spc_1")],
        document_ids=[DocumentId("doc_1")],
        metadata=MetadataFilter(category=("x",), tags_any=("a",), tags_all=("a", "b")),
    ),
    "searchable_version": lambda conn: searchable_version(conn, REACH, VersionId("ver_1")),
    "still_searchable": lambda conn: still_searchable(conn, REACH, [VersionId("ver_1"), VersionId("ver_2")]),
    "find_ended": lambda conn: find_ended(conn, ["op_1", "op_2"]),
    "has_unsealed": has_unsealed,
    "find_unsealed": lambda conn: find_unsealed(conn, limit=500),
    "chain_heads": lambda conn: chain_heads(conn, ["acme", "foreign"]),
    "visible_transitions": lambda conn: visible_transitions(conn, REACH, set(ResourceType), after=0, until=500),
    "load_operations": lambda conn: load_operations(conn, ["op_1", "op_2"]),
    "find_running_on_document": lambda conn: find_running(conn, document_id=DocumentId("doc_1")),
    "find_running_in_space": lambda conn: find_running(conn, space_id=SpaceId("spc_1")),
    "count_unfinished": lambda conn: count_unfinished(conn, SpaceId("spc_1")),
    "count_unfinished_of_tenant": lambda conn: count_unfinished_of_tenant(conn, TENANT, at_most=50),
    "known_events": lambda conn: known_events(conn, []),
    "take_due": lambda conn: take_due(conn, Step.UPLOAD, limit=10, now=NOW),
    "count_open": count_open,
    "find_commands": lambda conn: find_commands(conn, ["op_1", "op_2"]),
    "find_published": find_published,
    "due_purges": lambda conn: due_purges(conn, NOW, limit=10),
    "find_purges_of": lambda conn: find_purges_of(conn, ["op_1"]),
    "find_deletes_at_rest": lambda conn: find_deletes_at_rest(conn, ["doc_1", "doc_2"]),
    "managed_operation": lambda conn: managed_operation(conn, REACH, OperationId("op_1")),
    "page_of_unfinished": lambda conn: page_of_unfinished(conn, REACH, still_before=after(9), page=1, page_size=20),
    "look_into": lambda conn: look_into(conn, [an_operation(), an_operation("op_2", **DELETE)]),
    "page_of_letters": lambda conn: page_of_letters(conn, REACH, LetterStatus.OPEN, of_none=True, page=1, page_size=20),
    "managed_letter": lambda conn: managed_letter(conn, REACH, LetterId("ltr_1"), of_none=True),
    "find_retries": lambda conn: find_retries(conn, OperationId("op_1")),
}

SCANNED = {
    SQLITE: re.compile(
        r"^SCAN (document|document_version|active|version|space|operation|access_grant|held|outbox|purge"
        r"|dead_letter|owner|audit_entry|entry|audit_chain|link|last)\b(.*)"
    ),
    "postgresql": re.compile(
        r"Seq Scan on (document|document_version|space|operation|access_grant|outbox|purge|document_tag"
        r"|dead_letter|audit_entry|audit_chain)\b(.*)"
    ),
}
ONLY_WHAT_IS_OUT = "outbox_published"
"""The index that holds published commands alone may be read whole: it is as large as the workers' windows."""


def an_entry(number: int) -> AuditEntry:
    """What was written about a document of the other tenant."""
    return AuditEntry(
        id=f"aud_{number}",
        tenant_id=TenantId("foreign"),
        at=NOW,
        origin=Origin(actor=Actor.PROJECTOR),
        action="document.active",
        outcome=Outcome.DONE,
        resource_type=ResourceType.DOCUMENT,
        resource_id=f"doc_{number}",
        after="ACTIVE",
    )


def _waiting_purge(number: int) -> Purge:
    """One of the other tenant's, of a version of its own."""
    version_id = VersionId(f"ver_{number}")
    return a_purge(f"pur_foreign_{number}", tenant_id=TenantId("foreign"), version_id=version_id)


def _letter(number: int) -> DeadLetter:
    """One of the other tenant's."""
    return DeadLetter(
        id=LetterId(f"ltr_{number}"),
        tenant_id=TenantId("foreign"),
        kind=LetterKind.EVENT,
        owner_id=f"op_{number}",
        subject="s",
        body=b"",
        error="KeyError",
        created_at=NOW,
    )


@pytest.fixture
def crowded(database: Database) -> Database:
    """A database full of what other tenants and other spaces hold."""
    numbers = range(1000, 1000 + OTHERS)
    elsewhere = {"space_id": SpaceId("spc_other"), "tenant_id": TenantId("foreign")}
    foreign = [an_operation(f"op_{n}", f"doc_{n}", **elsewhere) for n in numbers]
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1, 2),
            lambda conn: store_served(conn, 3, space=a_space("spc_2"), granted=None),
            lambda conn: insert_grants(conn, [a_grant(ALICE, "spc_2", "doc_3")]),
            lambda conn: store_served(conn, *numbers, space=a_space("spc_other"), granted=EDITORS),
            lambda conn: insert_grants(conn, [a_grant(EDITORS, "spc_other", f"doc_{n}") for n in numbers]),
            lambda conn: insert_operations(conn, [an_operation(), *foreign]),
            lambda conn: insert_commands(conn, [a_command(f"op_{n}", due_at=NOW) for n in numbers]),
            lambda conn: insert_commands(conn, [a_command("op_1", published_at=NOW, sequence=1)]),
            lambda conn: write_entries(conn, [an_entry(n) for n in numbers]),
            lambda conn: seal_audit(conn, NOW, limit=OTHERS // 2),
            lambda conn: insert_purges(conn, [a_purge(f"pur_{n}", status=PurgeStatus.DONE) for n in numbers]),
            lambda conn: insert_purges(conn, [_waiting_purge(n) for n in numbers]),
            lambda conn: insert_dead_letters(conn, [_letter(n) for n in numbers]),
        )
    )
    for number in range(200):
        other = a_space(f"spc_foreign_{number}", tenant_id="foreign")
        database.write_blocking(lambda conn, space=other: store_served(conn, space=space))  # type: ignore[misc]
    if database.dialect != SQLITE:
        database.write_blocking(lambda conn: conn.exec_driver_sql("ANALYZE"))
    return database


@contextmanager
def explained(conn: Connection, plans: list[str]) -> Iterator[None]:
    """Collects the plan of every statement run on the connection."""
    keyword = "EXPLAIN QUERY PLAN" if conn.dialect.name == SQLITE else "EXPLAIN (COSTS OFF)"

    def explain(
        connection: Connection, cursor: object, statement: str, parameters: object, context: object, many: bool
    ) -> None:
        if not statement.startswith("EXPLAIN"):
            rows = connection.exec_driver_sql(f"{keyword} {statement}", parameters).all()  # type: ignore[arg-type]
            plans.extend(str(row[-1]).strip(" ->") for row in rows)

    event.listen(conn, "before_cursor_execute", explain)
    try:
        yield
    finally:
        event.remove(conn, "before_cursor_execute", explain)


def test_no_query_reads_a_whole_table(crowded: Database) -> None:
    scanned: dict[str, list[str]] = {}

    def look(conn: Connection) -> None:
        for name, query in QUERIES.items():
            plans: list[str] = []
            with explained(conn, plans):
                query(conn)
            found = [plan for plan in plans if SCANNED[crowded.dialect].search(plan) and ONLY_WHAT_IS_OUT not in plan]
            if found:
                scanned[name] = plans

    crowded.read_blocking(look)
    assert not scanned, "\n".join(f"{name}:\n  " + "\n  ".join(plan) for name, plan in scanned.items())


def test_what_a_tenant_has_queued_is_counted_in_the_index_of_unfinished_work(crowded: Database) -> None:
    def look(conn: Connection) -> list[str]:
        plans: list[str] = []
        with explained(conn, plans):
            count_unfinished_of_tenant(conn, TENANT, at_most=50)
        return plans

    plans = crowded.read_blocking(look)
    assert any("operation_unfinished_of_tenant" in plan for plan in plans), plans


def test_purges_that_are_due_are_found_tenant_by_tenant_in_their_index(crowded: Database) -> None:
    def look(conn: Connection) -> list[str]:
        plans: list[str] = []
        with explained(conn, plans):
            due_purges(conn, NOW, limit=10)
        return plans

    plans = crowded.read_blocking(look)
    assert any("purge_due" in plan for plan in plans), plans
    assert any(re.search(r"tenant_id\S* ?= ?\S+ AND \(?due_at ?<", plan) for plan in plans), plans
