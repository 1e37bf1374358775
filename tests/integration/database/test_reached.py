"""Who may act on what is hidden or gone, and which spaces those may act on who manage them."""

from dataclasses import replace

import pytest

from shared.contracts.enums import DocumentStatus, PrincipalKind, SpaceStatus
from shared.contracts.ids import DocumentId, SpaceId, TenantId
from shared.database.database import Database
from shared.database.documents import save_documents
from shared.database.grants import insert_grants
from shared.database.managed import is_space_managed
from shared.database.reached import is_document_in_reach, is_space_in_reach
from shared.database.spaces import save_spaces
from shared.domain.authorization import Principal, Reach
from tests.integration.database.samples import ALICE, a_document, a_grant, a_space, reach_of, store_served

NOBODY = Principal(PrincipalKind.USER, "nobody")
SPACE, DOCUMENT = SpaceId("spc_1"), DocumentId("doc_1")


def reached(database: Database, reach: Reach) -> tuple[bool, bool]:
    return (
        database.read_blocking(lambda conn: is_space_in_reach(conn, reach, SPACE)),
        database.read_blocking(lambda conn: is_document_in_reach(conn, reach, DOCUMENT)),
    )


def elsewhere(reach: Reach) -> list[Reach]:
    """The same people in another tenant and in another domain."""
    return [replace(reach, tenant_id=TenantId("globex")), replace(reach, domains=frozenset({"another"}))]


@pytest.mark.parametrize("status", DocumentStatus)
def test_a_document_is_in_reach_of_who_was_granted_it_whatever_became_of_it(
    database: Database, status: DocumentStatus
) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, granted=None))
    database.write_blocking(lambda conn: save_documents(conn, [a_document("doc_1", status=status)]))
    assert reached(database, reach_of(ALICE)) == (False, False)

    database.write_blocking(lambda conn: insert_grants(conn, [a_grant(ALICE, document_id=DOCUMENT)]))
    assert reached(database, reach_of(ALICE)) == (False, True)
    assert [reached(database, other) for other in elsewhere(reach_of(ALICE))] == [(False, False)] * 2


@pytest.mark.parametrize("status", SpaceStatus)
def test_a_space_is_in_reach_of_who_was_granted_it_whatever_became_of_it(
    database: Database, status: SpaceStatus
) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, granted=None))
    database.write_blocking(lambda conn: save_spaces(conn, [a_space("spc_1", status=status)]))
    database.write_blocking(lambda conn: insert_grants(conn, [a_grant(ALICE)]))

    assert reached(database, reach_of(ALICE)) == (True, True)
    assert reached(database, reach_of(NOBODY)) == (False, False)
    assert [reached(database, other) for other in elsewhere(reach_of(ALICE))] == [(False, False)] * 2


def test_managing_a_space_takes_its_tenant_and_domain_and_no_grant(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, granted=None))
    reach = reach_of(NOBODY)

    assert managed(database, reach)
    assert [managed(database, other) for other in elsewhere(reach)] == [False] * 2
    assert not managed(database, reach, "spc_none")
    database.write_blocking(lambda conn: save_spaces(conn, [a_space("spc_1", status=SpaceStatus.DELETED)]))
    assert not managed(database, reach)


def managed(database: Database, reach: Reach, space_id: str = SPACE) -> bool:
    """Whether the space is the caller's to manage."""
    return database.read_blocking(lambda conn: is_space_managed(conn, reach, SpaceId(space_id)))
