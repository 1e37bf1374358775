"""Every noun comes back from the database as it was stored, and changes as it was saved."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.contracts.enums import (
    DocumentStatus,
    FailureReason,
    OperationStatus,
    OperationType,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.ids import CommandId, DocumentId, FileId, OperationId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.database.database import Database
from shared.database.documents import holds_documents, insert_documents, load_documents, save_documents
from shared.database.errors import UniqueViolation
from shared.database.locking import Lock
from shared.database.operations import (
    count_unfinished,
    find_deletes_at_rest,
    find_retries,
    find_running,
    insert_operations,
    load_operations,
    save_operations,
)
from shared.database.outbox import insert_commands, mark_gone
from shared.database.purges import (
    due_purges,
    find_purges_of,
    insert_purges,
    load_purges,
    lock_waiting_purges,
    save_purges,
)
from shared.database.spaces import code_is_taken, insert_spaces, load_spaces, save_spaces
from shared.database.sql import run
from shared.database.versions import insert_versions, load_versions, lock_remaining_versions, save_versions
from shared.domain.purge import PurgeStatus
from tests.integration.database.samples import (
    NOW,
    TENANT,
    a_command,
    a_document,
    a_purge,
    a_space,
    a_version,
    after,
    an_operation,
    store_served,
    together,
)

METADATA = DocumentMetadataOutput(
    category="Wartung", tags=("泵", 'quote"d', "a,b"), version_label="v1", product_code=None
)


def test_a_space_comes_back_and_changes(database: Database) -> None:
    space = a_space(description="Größe 大小", native_id=None, status=SpaceStatus.CREATING)
    database.write_blocking(lambda conn: insert_spaces(conn, [space]))
    assert database.read_blocking(lambda conn: load_spaces(conn, [space.id])) == {space.id: space}
    then = replace(space, name="New", description=None, status=SpaceStatus.ACTIVE, native_id="n", lock_version=2)
    database.write_blocking(lambda conn: save_spaces(conn, [then]))
    assert database.read_blocking(lambda conn: load_spaces(conn, [space.id])) == {space.id: then}


def test_a_code_is_free_again_once_its_space_is_deleted(database: Database) -> None:
    database.write_blocking(lambda conn: insert_spaces(conn, [a_space()]))
    assert database.read_blocking(lambda conn: code_is_taken(conn, TENANT, "spc_1"))
    database.write_blocking(lambda conn: save_spaces(conn, [a_space(status=SpaceStatus.DELETED)]))
    assert not database.read_blocking(lambda conn: code_is_taken(conn, TENANT, "spc_1"))
    database.write_blocking(lambda conn: insert_spaces(conn, [a_space("spc_2", code="spc_1")]))


def test_a_document_comes_back_and_changes(database: Database) -> None:
    document = a_document(metadata=METADATA, active_version_id=None, candidate_version_id=VersionId("ver_1"))
    database.write_blocking(
        together(lambda conn: insert_spaces(conn, [a_space()]), lambda conn: insert_documents(conn, [document]))
    )
    assert database.read_blocking(lambda conn: load_documents(conn, ["doc_1"])) == {"doc_1": document}
    then = replace(
        document,
        name="x.pdf",
        status=DocumentStatus.DISABLED,
        active_version_id=VersionId("ver_1"),
        candidate_version_id=None,
        last_version_number=2,
        lock_version=5,
        updated_at=after(1),
    )
    database.write_blocking(lambda conn: save_documents(conn, [then]))
    assert database.read_blocking(lambda conn: load_documents(conn, ["doc_1"])) == {"doc_1": then}


def test_tags_are_rewritten_for_the_documents_whose_tags_changed(database: Database) -> None:
    first, second = a_document("doc_1", metadata=METADATA), a_document("doc_2", metadata=METADATA)
    database.write_blocking(
        together(lambda conn: insert_spaces(conn, [a_space()]), lambda conn: insert_documents(conn, [first, second]))
    )
    retagged = [
        replace(document, metadata=METADATA.model_copy(update={"tags": ("泵", "neu")})) for document in (first, second)
    ]
    database.write_blocking(lambda conn: save_documents(conn, retagged, tags_changed={"doc_1"}))
    rows = database.read_blocking(lambda conn: run(conn, "SELECT document_id, tag FROM document_tag").all())
    assert {tuple(row) for row in rows} == {
        ("doc_1", "泵"),
        ("doc_1", "neu"),
        ("doc_2", "泵"),
        ("doc_2", 'quote"d'),
        ("doc_2", "a,b"),
    }


def test_a_space_tells_which_statuses_its_documents_have(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, 2, 3))
    gone = a_document("doc_2", status=DocumentStatus.DELETED)
    leaving = a_document("doc_3", status=DocumentStatus.DELETING)
    database.write_blocking(lambda conn: save_documents(conn, [gone, leaving]))
    held = {
        status
        for status in DocumentStatus
        if database.read_blocking(lambda conn, status=status: holds_documents(conn, SpaceId("spc_1"), {status}))  # type: ignore[misc]
    }
    assert held == {DocumentStatus.ACTIVE, DocumentStatus.DELETED, DocumentStatus.DELETING}


def test_a_version_comes_back_and_changes(database: Database) -> None:
    version = a_version(status=VersionStatus.CREATED, native_document_id=None)
    database.write_blocking(lambda conn: store_served(conn, 7))
    database.write_blocking(
        lambda conn: insert_versions(conn, [replace(version, document_id=DocumentId("doc_7"), number=2)])
    )
    version = replace(version, document_id=DocumentId("doc_7"), number=2)
    assert database.read_blocking(lambda conn: load_versions(conn, ["ver_1"])) == {"ver_1": version}
    then = replace(
        version,
        operation_id=OperationId("op_retry"),
        status=VersionStatus.FAILED,
        native_document_id="n",
        chunk_count=12,
        progress_percent=40,
        progress_updated_at=after(1),
        failure_reason=FailureReason.FILE_ENCRYPTED,
        failure_text="locked",
        is_retryable=True,
        failed_step=Step.INGEST,
        updated_at=after(2),
        processing_started_at=after(3),
        ready_at=after(4),
        activated_at=after(5),
        failed_at=after(6),
        cancelled_at=after(7),
    )
    database.write_blocking(lambda conn: save_versions(conn, [then]))
    assert database.read_blocking(lambda conn: load_versions(conn, ["ver_1"])) == {"ver_1": then}


def test_the_versions_that_are_left_of_documents_come_by_id(database: Database) -> None:
    others = [a_version("ver_0", number=2), a_version("ver_9", number=3, status=VersionStatus.DELETED)]
    database.write_blocking(
        together(lambda conn: store_served(conn, 1, 2, 3), lambda conn: insert_versions(conn, others))
    )
    versions = database.write_blocking(lambda conn: lock_remaining_versions(conn, ["doc_1", "doc_2"]))
    assert [version.id for version in versions] == ["ver_0", "ver_1", "ver_2"]


def test_a_number_is_given_once_per_document(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1))
    with pytest.raises(UniqueViolation) as caught:
        database.write_blocking(lambda conn: insert_versions(conn, [a_version("ver_2", number=1)]))
    assert caught.value.constraint == "version_number_once"


def test_an_operation_comes_back_and_changes(database: Database) -> None:
    operation = an_operation(parent_id=OperationId("op_0"), manual_attempt=1)
    database.write_blocking(lambda conn: insert_operations(conn, [operation]))
    assert database.read_blocking(lambda conn: load_operations(conn, ["op_1"])) == {"op_1": operation}
    then = replace(
        operation,
        status=OperationStatus.FAILED,
        work=None,
        cancel=CommandId("op_1", Step.CANCEL, 2, 3),
        retry_count=4,
        last_retry_at=after(1),
        next_retry_at=after(2),
        cancel_requested_at=after(3),
        failure_reason=FailureReason.NO_TEXT,
        failure_text="nothing",
        is_retryable=True,
        started_at=after(4),
        heard_at=after(5),
        ended_at=after(6),
        updated_at=after(7),
    )
    database.write_blocking(lambda conn: save_operations(conn, [then]))
    assert database.read_blocking(lambda conn: load_operations(conn, ["op_1"])) == {"op_1": then}


def test_one_operation_runs_on_a_document_at_a_time_deletes_excepted(database: Database) -> None:
    database.write_blocking(lambda conn: insert_operations(conn, [an_operation("op_1")]))
    with pytest.raises(UniqueViolation) as caught:
        database.write_blocking(lambda conn: insert_operations(conn, [an_operation("op_2")]))
    assert caught.value.constraint == "operation_one_at_a_time"
    delete = an_operation("op_3", type=OperationType.DOCUMENT_DELETE, work=None)
    database.write_blocking(lambda conn: insert_operations(conn, [delete]))
    database.write_blocking(lambda conn: save_operations(conn, [an_operation("op_1", status=OperationStatus.FAILED)]))
    database.write_blocking(lambda conn: insert_operations(conn, [an_operation("op_2")]))


def test_what_runs_is_found_by_document_and_by_space(database: Database) -> None:
    operations = [
        an_operation("op_1", "doc_1", status=OperationStatus.RUNNING, created_at=after(2)),
        an_operation("op_2", "doc_1", type=OperationType.DOCUMENT_DELETE, work=None, created_at=after(1)),
        an_operation("op_3", "doc_2", status=OperationStatus.SUCCEEDED),
        an_operation("op_4", None, type=OperationType.SPACE_CREATE),
        an_operation("op_5", "doc_5", space_id=SpaceId("spc_2")),
    ]
    database.write_blocking(lambda conn: insert_operations(conn, operations))
    on_document = database.read_blocking(lambda conn: find_running(conn, document_id=DocumentId("doc_1")))
    in_space = database.read_blocking(lambda conn: find_running(conn, space_id=SpaceId("spc_1")))
    assert [operation.id for operation in on_document] == ["op_2", "op_1"]
    assert [operation.id for operation in in_space] == ["op_4", "op_2", "op_1"]
    assert database.read_blocking(lambda conn: count_unfinished(conn, SpaceId("spc_1"))) == 3
    assert database.read_blocking(lambda conn: count_unfinished(conn, SpaceId("spc_2"))) == 1


def test_a_purge_comes_back_and_changes(database: Database) -> None:
    purge = a_purge(native_document_id="n", operation_id=OperationId("op_9"))
    of_file = a_purge("pur_2", step=Step.PURGE_FILE, version_id=None, space_id=None, file_id=FileId("fil_1"))
    database.write_blocking(lambda conn: insert_purges(conn, [purge, of_file]))
    both = database.read_blocking(lambda conn: load_purges(conn, ["pur_1", "pur_2", "pur_3"]))
    assert both == {"pur_1": purge, "pur_2": of_file}
    then = replace(purge, status=PurgeStatus.ISSUED, attempt=2, issue=3, due_at=after(5), updated_at=after(6))
    database.write_blocking(lambda conn: save_purges(conn, [then]))
    assert database.read_blocking(lambda conn: load_purges(conn, ["pur_1"])) == {"pur_1": then}


def test_a_purge_waits_for_its_time_and_for_every_published_command_of_its_version(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, 2, 3))
    purges = [
        a_purge("pur_1", version_id=VersionId("ver_1")),
        a_purge("pur_2", version_id=VersionId("ver_2"), due_at=after(-5)),
        a_purge("pur_3", version_id=VersionId("ver_3"), due_at=after(60)),
        a_purge("pur_4", version_id=None, step=Step.PURGE_FILE, due_at=after(-9)),
        a_purge("pur_5", version_id=VersionId("ver_3"), status=PurgeStatus.ISSUED),
        a_purge("pur_6", version_id=VersionId("ver_3")),
    ]
    out, waiting = a_command("op_1", published_at=NOW), a_command("op_2")
    operations = [an_operation("op_1", status=OperationStatus.FAILED)]
    operations.append(an_operation("op_2", "doc_2", version_id=VersionId("ver_2")))
    database.write_blocking(
        together(
            lambda conn: insert_operations(conn, operations),
            lambda conn: insert_purges(conn, purges),
            lambda conn: insert_commands(conn, [out, waiting]),
        )
    )
    due = database.read_blocking(lambda conn: due_purges(conn, NOW, limit=10))
    assert [purge.id for purge in due] == ["pur_4", "pur_2"]
    database.write_blocking(lambda conn: mark_gone(conn, [out], 1))
    due = database.read_blocking(lambda conn: due_purges(conn, NOW, limit=10))
    assert [purge.id for purge in due] == ["pur_4", "pur_2", "pur_1"]
    assert [purge.id for purge in database.read_blocking(lambda conn: due_purges(conn, NOW, limit=1))] == ["pur_4"]


def test_a_delete_can_tell_which_purges_are_its_own(database: Database) -> None:
    owner = OperationId("op_9")
    purges = [
        a_purge("pur_1", operation_id=owner),
        a_purge("pur_2", operation_id=owner, status=PurgeStatus.ISSUED),
        a_purge("pur_3", operation_id=OperationId("op_8"), status=PurgeStatus.DONE),
        a_purge("pur_4"),
    ]
    database.write_blocking(lambda conn: insert_purges(conn, purges))
    found = database.read_blocking(lambda conn: find_purges_of(conn, [owner]))
    assert sorted(purge.id for purge in found) == ["pur_1", "pur_2"]
    waiting = database.write_blocking(lambda conn: lock_waiting_purges(conn, ["ver_1", "ver_2"]))
    assert [purge.id for purge in waiting] == ["pur_1", "pur_4"]


def test_a_delete_is_at_rest_when_nothing_else_runs_on_its_document(database: Database) -> None:
    kind = {"type": OperationType.DOCUMENT_DELETE}
    operations = [
        an_operation("op_1", "doc_1"),
        an_operation("op_2", "doc_1", **kind),
        an_operation("op_3", "doc_2", status=OperationStatus.FAILED),
        an_operation("op_4", "doc_2", **kind),
        an_operation("op_5", "doc_3", status=OperationStatus.RUNNING, **kind),
        an_operation("op_6", "doc_4", **kind),
    ]
    database.write_blocking(lambda conn: insert_operations(conn, operations))
    found = database.read_blocking(lambda conn: find_deletes_at_rest(conn, ["doc_1", "doc_2", "doc_3"]))
    assert [operation.id for operation in found] == ["op_4"]


def test_the_retries_of_a_root_come_in_their_order(database: Database) -> None:
    root, first = OperationId("op_1"), OperationId("op_2")
    over = {"status": OperationStatus.FAILED, "root_id": root}
    operations = [
        an_operation("op_1", **over),
        an_operation("op_3", parent_id=first, manual_attempt=2, **over),
        an_operation("op_2", parent_id=root, manual_attempt=1, **over),
        an_operation("op_4", "doc_4"),
    ]
    database.write_blocking(lambda conn: insert_operations(conn, operations))
    found = database.read_blocking(lambda conn: find_retries(conn, root))
    assert [operation.id for operation in found] == ["op_2", "op_3"]


@pytest.mark.parametrize("lock", list(Lock))
@pytest.mark.parametrize("number", [0, 1, 2, 700])
def test_any_number_of_rows_is_loaded_and_saved_at_once(database: Database, number: int, lock: Lock) -> None:
    operations = {f"op_{index:04}": an_operation(f"op_{index:04}", f"doc_{index}") for index in range(number)}
    database.write_blocking(lambda conn: insert_operations(conn, list(operations.values())))
    loaded = database.write_blocking(lambda conn: load_operations(conn, [*operations, "op_absent"], lock=lock))
    assert loaded == operations
    later = [replace(operation, heard_at=NOW + timedelta(microseconds=1)) for operation in operations.values()]
    database.write_blocking(lambda conn: save_operations(conn, later))
    assert list(database.read_blocking(lambda conn: load_operations(conn, operations)).values()) == later


def test_loading_nothing_asks_nothing(database: Database) -> None:
    assert database.read_blocking(lambda conn: load_spaces(conn, [])) == {}
