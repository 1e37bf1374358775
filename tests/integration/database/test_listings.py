"""Lists: their order, their pages, totals that fit, and what is never shown."""

from dataclasses import replace

import pytest

from shared.contracts.enums import DocumentStatus, OperationStatus, VersionStatus
from shared.contracts.ids import DocumentId, SpaceId, VersionId
from shared.database.database import Database
from shared.database.documents import insert_documents, save_documents
from shared.database.grants import insert_grants
from shared.database.listings import (
    list_documents,
    list_operations,
    list_spaces,
    view_document,
    visible_documents,
    visible_spaces,
)
from shared.database.operations import insert_operations
from shared.database.versions import insert_versions
from tests.integration.database.samples import (
    ALICE,
    EDITORS,
    a_document,
    a_grant,
    a_space,
    a_version,
    after,
    an_operation,
    reach_of,
    store_served,
    together,
)

REACH = reach_of(ALICE)


def documents(database: Database, page: int, size: int) -> tuple[list[str], int]:
    """The ids on a page of the space's documents, and the total."""
    items, total = database.read_blocking(
        lambda conn: list_documents(conn, REACH, SpaceId("spc_1"), page=page, page_size=size)
    )
    return [item.document.id for item in items], total


def documents_after(database: Database, last: str | None) -> tuple[list[str], int]:
    """The ids of the next documents of the space, and how many are left with them."""
    place = None if last is None else DocumentId(last)
    items, total = database.read_blocking(
        lambda conn: list_documents(conn, REACH, SpaceId("spc_1"), page=1, page_size=50, after=place)
    )
    return [item.document.id for item in items], total


def test_spaces_come_oldest_first_in_pages(database: Database) -> None:
    ages = {"spc_c": 1, "spc_a": 2, "spc_b": 2, "spc_d": 0}
    for space_id, seconds in ages.items():
        space = a_space(space_id, created_at=after(seconds))
        database.write_blocking(lambda conn, space=space: store_served(conn, space=space))  # type: ignore[misc]
    pages = [
        database.read_blocking(lambda conn, page=page: list_spaces(conn, REACH, page=page, page_size=3))  # type: ignore[misc]
        for page in (1, 2, 3)
    ]
    assert [([space.id for space in items], total) for items, total in pages] == [
        (["spc_d", "spc_c", "spc_a"], 4),
        (["spc_b"], 4),
        ([], 4),
    ]


def test_nothing_to_see_is_an_empty_page_and_a_total_of_none(database: Database) -> None:
    assert database.read_blocking(lambda conn: list_spaces(conn, REACH, page=1, page_size=5)) == ([], 0)
    assert documents(database, 1, 5) == ([], 0)


def test_documents_come_oldest_first_in_pages_without_those_being_deleted(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, *range(1, 8)))
    hidden = [a_document("doc_2", status=DocumentStatus.DELETING), a_document("doc_5", status=DocumentStatus.DELETED)]
    database.write_blocking(lambda conn: save_documents(conn, hidden))
    assert documents(database, 1, 2) == (["doc_1", "doc_3"], 5)
    assert documents(database, 3, 2) == (["doc_7"], 5)
    assert documents(database, 4, 2) == ([], 5)


def test_a_list_that_changes_meanwhile_is_gone_through_without_missing_or_repeating_what_stays(
    database: Database,
) -> None:
    numbered = [a_document(f"doc_{number:04}", created_at=after(number)) for number in range(1000)]
    database.write_blocking(
        together(lambda conn: store_served(conn), lambda conn: insert_documents(conn, numbered))  # noqa: PLW0108 - typed
    )
    seen: list[str] = []
    deleted: set[str] = set()
    while True:
        items, left = documents_after(database, seen[-1] if seen else None)
        seen += items
        if left == len(items):
            break
        gone = {f"doc_{len(seen) - 1:04}", f"doc_{len(seen) // 2:04}", f"doc_{len(seen) + 20:04}"}
        late = a_document(f"doc_late_{len(seen)}", created_at=after(2000 + len(seen)))
        hidden = [a_document(one, status=DocumentStatus.DELETING) for one in sorted(gone)]
        database.write_blocking(
            together(
                lambda conn, hidden=hidden: save_documents(conn, hidden),  # type: ignore[misc]
                lambda conn, late=late: insert_documents(conn, [late]),  # type: ignore[misc]
            )
        )
        deleted |= gone

    assert len(seen) == len(set(seen))
    assert {document.id for document in numbered} - deleted <= set(seen)


def test_what_comes_after_a_place_is_counted_from_there(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, *range(1, 8)))
    database.write_blocking(lambda conn: save_documents(conn, [a_document("doc_3", status=DocumentStatus.DELETED)]))
    items, total = database.read_blocking(
        lambda conn: list_documents(conn, REACH, SpaceId("spc_1"), page=2, page_size=3, after=DocumentId("doc_3"))
    )
    assert ([item.document.id for item in items], total) == (["doc_7"], 4)


def test_a_listed_document_brings_the_version_it_serves(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, 2))
    database.write_blocking(lambda conn: save_documents(conn, [a_document("doc_2", active_version_id=None)]))
    items, _ = database.read_blocking(lambda conn: list_documents(conn, REACH, SpaceId("spc_1"), page=1, page_size=5))
    assert [(item.document, item.active) for item in items] == [
        (a_document("doc_1"), a_version("ver_1", "doc_1")),
        (a_document("doc_2", active_version_id=None), None),
    ]


def test_totals_count_only_what_the_caller_may_see(database: Database) -> None:
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1, 2, 3, granted=EDITORS),
            lambda conn: insert_grants(conn, [a_grant(ALICE, document_id="doc_2")]),
        )
    )
    assert documents(database, 1, 5) == (["doc_2"], 1)


def test_a_document_in_full_brings_both_slots_and_their_operations(database: Database) -> None:
    document = a_document(candidate_version_id=VersionId("ver_2"))
    candidate = a_version("ver_2", number=2, status=VersionStatus.INGESTING)
    operation = an_operation("op_2", status=OperationStatus.RUNNING)
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1),
            lambda conn: insert_versions(conn, [candidate]),
            lambda conn: save_documents(conn, [document]),
            lambda conn: insert_operations(conn, [operation]),
        )
    )
    view = database.read_blocking(lambda conn: view_document(conn, REACH, DocumentId("doc_1")))
    assert view is not None
    assert (view.document, view.active, view.candidate) == (document, a_version(), candidate)
    assert (view.active_operation, view.candidate_operation) == (None, OperationStatus.RUNNING)


def test_a_document_in_full_without_any_version(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1))
    database.write_blocking(lambda conn: save_documents(conn, [a_document(active_version_id=None)]))
    view = database.read_blocking(lambda conn: view_document(conn, REACH, DocumentId("doc_1")))
    assert view is not None
    assert (view.active, view.active_operation, view.candidate, view.candidate_operation) == (None, None, None, None)


def test_several_are_found_at_once_without_those_that_are_not_visible(database: Database) -> None:
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1, 2),
            lambda conn: store_served(conn, 3, space=a_space("spc_2"), granted=EDITORS),
        )
    )
    spaces = database.read_blocking(lambda conn: visible_spaces(conn, REACH, ["spc_1", "spc_2", "spc_9"]))
    found = database.read_blocking(lambda conn: visible_documents(conn, REACH, ["doc_2", "doc_3", "doc_9"]))
    assert spaces == {"spc_1": a_space()}
    assert found == {"doc_2": a_document("doc_2")}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({OperationStatus.PENDING, OperationStatus.FAILED}, ["op_3", "op_1"]),
        (set(OperationStatus), ["op_3", "op_2", "op_1"]),
        ({OperationStatus.CANCELLED}, []),
    ],
)
def test_operations_come_newest_first_by_status(
    database: Database, statuses: set[OperationStatus], expected: list[str]
) -> None:
    operations = [
        an_operation("op_1", None, created_at=after(1)),
        an_operation("op_2", "doc_1", created_at=after(2), status=OperationStatus.SUCCEEDED),
        an_operation("op_3", "doc_1", created_at=after(3), status=OperationStatus.FAILED),
        replace(an_operation("op_4", "doc_1", created_at=after(4)), space_id=SpaceId("spc_2")),
    ]
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1),
            lambda conn: store_served(conn, space=a_space("spc_2"), granted=EDITORS),
            lambda conn: insert_operations(conn, operations),
        )
    )
    found, total = database.read_blocking(
        lambda conn: list_operations(conn, REACH, statuses=statuses, page=1, page_size=9)
    )
    assert [operation.id for operation in found] == expected
    assert total == len(expected)
