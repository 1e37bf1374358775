"""The predicate: tenant, security domain, and a grant on the space or the document, to user, group or role."""

from dataclasses import dataclass, replace

import pytest

from shared.contracts.enums import DocumentStatus, PrincipalKind, SpaceStatus
from shared.contracts.ids import DocumentId, OperationId, SpaceId, VersionId
from shared.database.database import Database
from shared.database.documents import save_documents
from shared.database.grants import Grant, delete_grants, insert_grants, list_grants
from shared.database.listings import (
    list_documents,
    list_spaces,
    view_document,
    visible_document,
    visible_operation,
    visible_space,
)
from shared.database.operations import insert_operations
from shared.database.searchable import searchable_version, searchable_versions, still_searchable
from shared.domain.authorization import Principal, Reach
from tests.integration.database.samples import (
    ALICE,
    EDITORS,
    READERS,
    TENANT,
    a_document,
    a_grant,
    a_space,
    an_operation,
    reach_of,
    store_served,
    together,
)

NOBODY = Principal(PrincipalKind.USER, "nobody")


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody sees of the space spc_1 and its document doc_1, asked in every way there is."""

    space: bool
    document: bool


NOTHING, DOCUMENT_ALONE, EVERYTHING = Seen(False, False), Seen(False, True), Seen(True, True)


def look(database: Database, reach: Reach) -> Seen:
    """Ask every function; they must agree."""
    space_id, document_id, version_id = SpaceId("spc_1"), DocumentId("doc_1"), VersionId("ver_1")
    read = database.read_blocking
    spaces = {
        read(lambda conn: visible_space(conn, reach, space_id)) is not None,
        space_id in [space.id for space in read(lambda conn: list_spaces(conn, reach, page=1, page_size=9))[0]],
    }
    listed, total = read(lambda conn: list_documents(conn, reach, space_id, page=1, page_size=9))
    documents = {
        read(lambda conn: visible_document(conn, reach, document_id)) is not None,
        read(lambda conn: view_document(conn, reach, document_id)) is not None,
        read(lambda conn: visible_operation(conn, reach, OperationId("op_1"))) is not None,
        document_id in [item.document.id for item in listed],
        total == 1,
        version_id in [target.version_id for target in read(lambda conn: searchable_versions(conn, reach))],
        version_id in read(lambda conn: still_searchable(conn, reach, [version_id])),
        read(lambda conn: searchable_version(conn, reach, version_id)) is not None,
    }
    assert len(spaces) == 1
    assert len(documents) == 1
    return Seen(spaces.pop(), documents.pop())


@pytest.fixture
def filled(database: Database) -> Database:
    """One space with one document, granted to nobody."""
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1, granted=None),
            lambda conn: insert_operations(conn, [an_operation()]),
        )
    )
    return database


@pytest.mark.parametrize("principal", [ALICE, EDITORS, READERS])
@pytest.mark.parametrize(
    ("grant", "expected"),
    [(a_grant(ALICE), EVERYTHING), (a_grant(ALICE, document_id="doc_1"), DOCUMENT_ALONE)],
)
def test_a_grant_to_user_group_or_role_opens_what_it_names(
    filled: Database, principal: Principal, grant: Grant, expected: Seen
) -> None:
    filled.write_blocking(lambda conn: insert_grants(conn, [replace(grant, principal=principal)]))
    assert look(filled, reach_of(principal)) == expected
    assert look(filled, reach_of(NOBODY, principal)) == expected
    assert look(filled, reach_of(NOBODY)) == NOTHING
    assert look(filled, reach_of()) == NOTHING


@pytest.mark.parametrize("grant", [a_grant(ALICE), a_grant(ALICE, document_id="doc_1")])
def test_neither_tenant_nor_domain_nor_kind_of_principal_may_be_another(filled: Database, grant: Grant) -> None:
    filled.write_blocking(lambda conn: insert_grants(conn, [grant]))
    assert look(filled, reach_of(ALICE, tenant="other")) == NOTHING
    assert look(filled, reach_of(ALICE, domains=("secret",))) == NOTHING
    assert look(filled, reach_of(ALICE, domains=())) == NOTHING
    assert look(filled, reach_of(Principal(PrincipalKind.ROLE, "alice"))) == NOTHING
    assert look(filled, reach_of(Principal(PrincipalKind.GROUP, "alice"))) == NOTHING
    assert look(filled, reach_of(ALICE, domains=("secret", "public"))).document


def test_a_grant_on_one_document_opens_no_other(filled: Database) -> None:
    filled.write_blocking(lambda conn: insert_grants(conn, [a_grant(ALICE, document_id="doc_2")]))
    assert look(filled, reach_of(ALICE)) == NOTHING


def test_a_grant_on_another_space_opens_nothing_here(filled: Database) -> None:
    other = a_space("spc_2")
    filled.write_blocking(lambda conn: store_served(conn, 2, space=other, granted=ALICE))
    assert look(filled, reach_of(ALICE)) == NOTHING


def test_both_grants_at_once_show_the_document_once(filled: Database) -> None:
    grants = [
        a_grant(ALICE),
        a_grant(EDITORS),
        a_grant(ALICE, document_id="doc_1"),
        a_grant(READERS, document_id="doc_1"),
    ]
    filled.write_blocking(lambda conn: insert_grants(conn, grants))
    assert look(filled, reach_of(ALICE, EDITORS, READERS)) == EVERYTHING


def test_what_is_taken_back_is_closed_again(filled: Database) -> None:
    grants = [a_grant(ALICE), a_grant(EDITORS), a_grant(ALICE, document_id="doc_1")]
    filled.write_blocking(lambda conn: insert_grants(conn, [*grants, grants[0]]))
    assert filled.read_blocking(lambda conn: list_grants(conn, TENANT, SpaceId("spc_1"))) == [
        grants[1],
        grants[0],
        grants[2],
    ]
    filled.write_blocking(lambda conn: delete_grants(conn, grants[:1]))
    assert look(filled, reach_of(ALICE)) == DOCUMENT_ALONE
    assert look(filled, reach_of(EDITORS)) == EVERYTHING


def test_granting_again_changes_nothing(filled: Database) -> None:
    filled.write_blocking(lambda conn: insert_grants(conn, [a_grant()]))
    filled.write_blocking(lambda conn: insert_grants(conn, [a_grant(), a_grant(EDITORS)]))
    assert len(filled.read_blocking(lambda conn: list_grants(conn, TENANT, SpaceId("spc_1")))) == 2


def test_names_that_look_like_code_are_only_names(filled: Database) -> None:
    strange = Principal(PrincipalKind.USER, """o'brien" OR 1=1 --[","] %s ? :tenant""")
    assert look(filled, reach_of(strange, tenant="' OR '1'='1", domains=("public", "'"))) == NOTHING
    filled.write_blocking(lambda conn: insert_grants(conn, [a_grant(strange)]))
    assert look(filled, reach_of(strange)) == EVERYTHING


def test_an_operation_stays_readable_when_its_document_and_its_space_are_deleted(filled: Database) -> None:
    filled.write_blocking(
        together(
            lambda conn: insert_grants(conn, [a_grant(ALICE)]),
            lambda conn: save_documents(conn, [a_document(status=DocumentStatus.DELETED)]),
        )
    )
    reach = reach_of(ALICE)
    assert filled.read_blocking(lambda conn: visible_document(conn, reach, DocumentId("doc_1"))) is None
    assert filled.read_blocking(lambda conn: visible_operation(conn, reach, OperationId("op_1"))) is not None


def test_a_space_is_visible_until_it_is_deleted(database: Database) -> None:
    spaces = [a_space(f"spc_{status.value}", status=status) for status in SpaceStatus]
    for space in spaces:
        database.write_blocking(lambda conn, space=space: store_served(conn, space=space))  # type: ignore[misc]
    listed, total = database.read_blocking(lambda conn: list_spaces(conn, reach_of(ALICE), page=1, page_size=20))
    assert {space.status for space in listed} == set(SpaceStatus) - {SpaceStatus.DELETED}
    assert total == len(SpaceStatus) - 1
