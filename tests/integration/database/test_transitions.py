"""Who is told of what: transitions of what the caller reaches, in the order of the chain, and of nothing else."""

from datetime import datetime

import pytest
from sqlalchemy import Connection

from shared.contracts.enums import DocumentStatus, PrincipalKind, ResourceType, SpaceStatus
from shared.contracts.ids import OperationId, TenantId
from shared.database.audit import write_entries
from shared.database.database import Database
from shared.database.grants import insert_grants
from shared.database.operations import insert_operations
from shared.database.sql import run
from shared.database.transitions import Transition, visible_transitions
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.domain.authorization import Principal, Reach
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.database.samples import (
    ALICE,
    EDITORS,
    NOW,
    a_grant,
    a_space,
    after,
    an_operation,
    reach_of,
    store_served,
    together,
)

BOB = Principal(PrincipalKind.USER, "bob")
ALL = frozenset(ResourceType)
SPACE, DOCUMENT, VERSION, OPERATION = ResourceType


def told(entry_id: str, kind: ResourceType, resource_id: str, at: datetime = NOW, **changes: object) -> AuditEntry:
    """A transition to ACTIVE."""
    given: dict[str, object] = {
        "id": entry_id,
        "tenant_id": TenantId("acme"),
        "at": at,
        "origin": Origin(actor=Actor.PROJECTOR),
        "action": f"{kind.value.lower()}.active",
        "outcome": Outcome.DONE,
        "resource_type": kind,
        "resource_id": resource_id,
        "before": "CREATING",
        "after": "ACTIVE",
        **changes,
    }
    return AuditEntry(**given)  # type: ignore[arg-type]


ABOUT_EACH = (
    told("aud_1", SPACE, "spc_1"),
    told("aud_2", DOCUMENT, "doc_1"),
    told("aud_3", VERSION, "ver_1"),
    told("aud_4", OPERATION, "op_1", operation_id=OperationId("op_1")),
    told("aud_5", OPERATION, "op_of_space"),
    told("aud_6", DOCUMENT, "doc_2"),
)


@pytest.fixture
def stored(database: Database) -> Database:
    """A space of Alice's with two documents, of which Bob was given the first; an entry about each of them."""
    of_space = an_operation("op_of_space", None, resource_type=SPACE, resource_id="spc_1", version_id=None)
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1, 2),
            lambda conn: insert_grants(conn, [a_grant(BOB, "spc_1", "doc_1")]),
            lambda conn: insert_operations(conn, [an_operation(), of_space]),
        )
    )
    seal(database, *ABOUT_EACH)
    return database


def seal(database: Database, *entries: AuditEntry) -> None:
    def work(conn: Connection) -> None:
        write_entries(conn, entries)
        seal_audit(conn, NOW, limit=500)

    database.write_blocking(work)


def seen(
    database: Database, reach: Reach, types: frozenset[ResourceType] = ALL, *, behind: int = 0, until: int = 500
) -> list[Transition]:
    return database.read_blocking(lambda conn: visible_transitions(conn, reach, types, after=behind, until=until))


def ids(transitions: list[Transition]) -> list[str]:
    return [one.resource_id for one in transitions]


def test_a_transition_is_told_as_it_was_written(stored: Database) -> None:
    assert seen(stored, reach_of(ALICE))[3] == Transition(
        seq=4,
        at=NOW,
        action="operation.active",
        resource_type=OPERATION,
        resource_id="op_1",
        operation_id=OperationId("op_1"),
        before="CREATING",
        after="ACTIVE",
    )


def test_whoever_has_the_space_is_told_of_everything_in_it_in_order(stored: Database) -> None:
    found = seen(stored, reach_of(ALICE))

    assert [one.seq for one in found] == [1, 2, 3, 4, 5, 6]
    assert ids(found) == ["spc_1", "doc_1", "ver_1", "op_1", "op_of_space", "doc_2"]


def test_whoever_has_one_document_is_told_of_that_one_alone(stored: Database) -> None:
    assert ids(seen(stored, reach_of(BOB))) == ["doc_1", "ver_1", "op_1"]


def test_whoever_has_nothing_or_is_of_another_domain_or_tenant_is_told_nothing(stored: Database) -> None:
    assert seen(stored, reach_of(EDITORS)) == []
    assert seen(stored, reach_of(ALICE, domains=("secret",))) == []
    assert seen(stored, reach_of(ALICE, tenant="globex")) == []


def test_only_the_types_that_were_asked_for_are_told(stored: Database) -> None:
    assert ids(seen(stored, reach_of(ALICE), frozenset({SPACE}))) == ["spc_1"]
    assert ids(seen(stored, reach_of(ALICE), frozenset({DOCUMENT, VERSION}))) == ["doc_1", "ver_1", "doc_2"]


def test_a_reader_goes_on_where_it_was(stored: Database) -> None:
    assert ids(seen(stored, reach_of(ALICE), behind=2, until=4)) == ["ver_1", "op_1"]
    assert seen(stored, reach_of(ALICE), behind=6) == []


def test_a_switch_that_left_everything_as_it_was_is_not_told_but_other_changes_are(stored: Database) -> None:
    seal(
        stored,
        told("aud_7", SPACE, "spc_1", action="SPACE_ENABLE", before="ACTIVE"),
        told("aud_8", DOCUMENT, "doc_1", action="DOCUMENT_ENABLE", before="ACTIVE"),
        told("aud_9", DOCUMENT, "doc_1", action="DOCUMENT_UPDATE", before="ACTIVE"),
        told("aud_10", SPACE, "spc_1", action="SPACE_DISABLE", before="ACTIVE", after="DISABLED"),
    )

    found = seen(stored, reach_of(ALICE), behind=6)

    assert sorted(one.action for one in found) == ["DOCUMENT_UPDATE", "SPACE_DISABLE"]


@pytest.mark.parametrize("status", [DocumentStatus.DELETING, DocumentStatus.DELETED])
def test_that_a_document_goes_is_told_to_whoever_could_see_it(stored: Database, status: DocumentStatus) -> None:
    stored.write_blocking(
        lambda conn: run(conn, f"UPDATE document SET status = '{status.value}' WHERE id = 'doc_1'").rowcount  # noqa: S608
    )
    seal(stored, told("aud_7", DOCUMENT, "doc_1", after=status.value))

    assert [(one.seq, one.after) for one in seen(stored, reach_of(BOB), behind=6)] == [(7, status.value)]


def test_that_a_space_went_is_told_to_whoever_could_see_it(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, space=a_space(status=SpaceStatus.DELETED)))
    seal(database, told("aud_1", SPACE, "spc_1", after="DELETED"))

    assert ids(seen(database, reach_of(ALICE))) == ["spc_1"]


def test_a_grant_that_is_taken_back_ends_it(stored: Database) -> None:
    stored.write_blocking(lambda conn: run(conn, "DELETE FROM access_grant WHERE document_id = 'doc_1'").rowcount)

    assert seen(stored, reach_of(BOB)) == []


def test_what_is_no_transition_is_not_told(stored: Database) -> None:
    seal(
        stored,
        told("aud_7", DOCUMENT, "doc_1", after=None),
        told("aud_8", DOCUMENT, "doc_1", outcome=Outcome.DENIED),
        told("aud_9", DOCUMENT, "doc_1", resource_type=None),
        told("aud_91", DOCUMENT, "doc_of_nobody"),
        told("aud_92", DOCUMENT, "doc_2", at=after(1)),
    )

    assert [(one.seq, one.resource_id) for one in seen(stored, reach_of(ALICE), behind=6)] == [(11, "doc_2")]


def test_a_tenant_called_as_the_chain_of_those_without_one_is_told_only_its_own(database: Database) -> None:
    system = TenantId("system")
    database.write_blocking(lambda conn: store_served(conn, space=a_space("spc_1", tenant_id=system), granted=None))
    grant = a_grant(ALICE, "spc_1")
    database.write_blocking(lambda conn: insert_grants(conn, [grant]))
    seal(database, told("aud_1", SPACE, "spc_1", tenant_id=None), told("aud_2", SPACE, "spc_1", tenant_id=system))

    assert [one.seq for one in seen(database, reach_of(ALICE, tenant="system"))] == [2]
