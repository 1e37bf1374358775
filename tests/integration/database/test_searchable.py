"""Which versions a search may look into, what narrows them, and what a switch of versions does."""

from dataclasses import replace

import pytest

from shared.contracts.enums import DocumentStatus, SpaceStatus, VersionStatus
from shared.contracts.ids import DocumentId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput, MetadataFilter
from shared.database.database import Database
from shared.database.documents import save_documents
from shared.database.grants import insert_grants
from shared.database.searchable import SearchTarget, searchable_version, searchable_versions, still_searchable
from shared.database.spaces import save_spaces
from shared.database.versions import insert_versions, save_versions
from tests.integration.database.samples import (
    ALICE,
    EDITORS,
    a_document,
    a_grant,
    a_space,
    a_version,
    reach_of,
    store_served,
    together,
)

REACH = reach_of(ALICE)


def search(
    database: Database,
    *,
    spaces: list[str] | None = None,
    documents: list[str] | None = None,
    metadata: MetadataFilter | None = None,
) -> list[str]:
    """The versions that Alice may search, in order."""
    found = database.read_blocking(
        lambda conn: searchable_versions(
            conn,
            REACH,
            space_ids=None if spaces is None else [SpaceId(space) for space in spaces],
            document_ids=None if documents is None else [DocumentId(document) for document in documents],
            metadata=metadata,
        )
    )
    return sorted(target.version_id for target in found)


def still(database: Database, *versions: str) -> list[str]:
    """Those that Alice may still search."""
    ids = [VersionId(version) for version in versions]
    return sorted(database.read_blocking(lambda conn: still_searchable(conn, REACH, ids)))


@pytest.fixture
def filled(database: Database) -> Database:
    """Two spaces granted to Alice, and one of which she has a single document."""
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1, 2),
            lambda conn: store_served(conn, 3, space=a_space("spc_2")),
            lambda conn: store_served(conn, 4, 5, space=a_space("spc_3"), granted=EDITORS),
            lambda conn: insert_grants(conn, [a_grant(ALICE, "spc_3", "doc_5")]),
        )
    )
    return database


def test_a_target_tells_everything_that_a_search_and_a_hit_need(filled: Database) -> None:
    metadata = DocumentMetadataOutput(category="Wartung", tags=("泵",), version_label=None, product_code="P1")
    filled.write_blocking(lambda conn: save_documents(conn, [a_document("doc_3", "spc_2", metadata=metadata)]))
    target = filled.read_blocking(lambda conn: searchable_version(conn, REACH, VersionId("ver_3")))
    assert isinstance(target, SearchTarget)
    assert (target.space_id, target.native_space_id, target.profile) == ("spc_2", "native-spc_2", a_space().profile)
    assert (target.document_id, target.document_name, target.metadata) == ("doc_3", "doc_3.pdf", metadata)
    assert (target.version_id, target.native_document_id) == ("ver_3", "native-ver_3")


def test_everything_in_reach_is_searched_and_spaces_and_documents_narrow_it(filled: Database) -> None:
    assert search(filled) == ["ver_1", "ver_2", "ver_3", "ver_5"]
    assert search(filled, spaces=["spc_1", "spc_9"]) == ["ver_1", "ver_2"]
    assert search(filled, spaces=["spc_3"]) == ["ver_5"]
    assert search(filled, documents=["doc_2", "doc_4", "doc_5"]) == ["ver_2", "ver_5"]
    assert search(filled, spaces=["spc_2"], documents=["doc_2"]) == []


@pytest.mark.parametrize("status", set(DocumentStatus) - {DocumentStatus.ACTIVE})
def test_only_active_documents_are_searched(filled: Database, status: DocumentStatus) -> None:
    changed = [a_document("doc_1", status=status), a_document("doc_5", "spc_3", status=status)]
    filled.write_blocking(lambda conn: save_documents(conn, changed))
    assert search(filled) == ["ver_2", "ver_3"]
    assert still(filled, "ver_1", "ver_2", "ver_5") == ["ver_2"]


@pytest.mark.parametrize("status", set(VersionStatus) - {VersionStatus.READY})
def test_only_ready_versions_are_searched(filled: Database, status: VersionStatus) -> None:
    filled.write_blocking(lambda conn: save_versions(conn, [a_version("ver_1", "doc_1", status=status)]))
    assert search(filled) == ["ver_2", "ver_3", "ver_5"]
    assert still(filled, "ver_1", "ver_2") == ["ver_2"]


@pytest.mark.parametrize("status", set(SpaceStatus) - {SpaceStatus.ACTIVE})
def test_only_active_spaces_are_searched(filled: Database, status: SpaceStatus) -> None:
    changed = [a_space("spc_1", status=status), a_space("spc_3", status=status)]
    filled.write_blocking(lambda conn: save_spaces(conn, changed))
    assert search(filled) == ["ver_3"]
    assert still(filled, "ver_1", "ver_3", "ver_5") == ["ver_3"]


def test_a_switch_of_versions_shows_exactly_one_of_them(filled: Database) -> None:
    newer = a_version("ver_9", "doc_1", number=2)
    switched = a_document("doc_1", active_version_id=newer.id)
    assert still(filled, "ver_1", "ver_9") == ["ver_1"]
    filled.write_blocking(
        together(
            lambda conn: insert_versions(conn, [newer]),
            lambda conn: save_documents(conn, [switched]),
            lambda conn: save_versions(conn, [replace(a_version("ver_1"), status=VersionStatus.RETIRED)]),
        )
    )
    assert search(filled, spaces=["spc_1"]) == ["ver_2", "ver_9"]
    assert still(filled, "ver_1", "ver_9") == ["ver_9"]


TAGGED = {
    "doc_1": DocumentMetadataOutput(category="manual", tags=("a", "b"), version_label="1", product_code="X"),
    "doc_2": DocumentMetadataOutput(category="guide", tags=("b",), version_label="1", product_code=None),
}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (MetadataFilter(), ["ver_1", "ver_2", "ver_3", "ver_5"]),
        (MetadataFilter(category=("manual",)), ["ver_1"]),
        (MetadataFilter(category=("manual", "guide")), ["ver_1", "ver_2"]),
        (MetadataFilter(category=("Manual",)), []),
        (MetadataFilter(tags_any=("a", "z")), ["ver_1"]),
        (MetadataFilter(tags_any=("a", "b")), ["ver_1", "ver_2"]),
        (MetadataFilter(tags_all=("a", "b")), ["ver_1"]),
        (MetadataFilter(tags_all=("b",)), ["ver_1", "ver_2"]),
        (MetadataFilter(tags_all=("b", "z")), []),
        (MetadataFilter(version_label=("1",), product_code=("X", "Y")), ["ver_1"]),
        (MetadataFilter(version_label=("1",), tags_any=("b",), tags_all=("b",), category=("guide",)), ["ver_2"]),
    ],
)
def test_a_metadata_filter_narrows_by_every_field_that_it_gives(
    filled: Database, metadata: MetadataFilter, expected: list[str]
) -> None:
    documents = [a_document(document_id, metadata=given) for document_id, given in TAGGED.items()]
    filled.write_blocking(lambda conn: save_documents(conn, documents, tags_changed=set(TAGGED)))
    assert search(filled, metadata=metadata) == expected
