"""What a document and its versions allow a caller to ask for."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.contracts.commands import SourceFile
from shared.contracts.enums import ChangeType, DocumentStatus, FailureReason, Step, VersionStatus
from shared.contracts.ids import DocumentId, FileId, OperationId, SpaceId, SubjectId, TenantId, VersionId
from shared.contracts.metadata import DocumentMetadata, DocumentMetadataPatch
from shared.domain.document import (
    Document,
    accept_replacement,
    described,
    is_searchable,
    require_current,
    require_free_slot,
    require_reindexable,
    switched,
)
from shared.domain.errors import Conflict, NotFound, OperationPending, StaleVersion
from shared.domain.version import Version

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 3, 1, 13, tzinfo=UTC)

VERSION = Version(
    id=VersionId("ver_1"),
    tenant_id=TenantId("acme"),
    space_id=SpaceId("spc_1"),
    document_id=DocumentId("doc_1"),
    operation_id=OperationId("op_1"),
    number=1,
    change_type=ChangeType.INITIAL_UPLOAD,
    status=VersionStatus.READY,
    file_id=FileId("fil_1"),
    source=SourceFile(object_key="o", size=1, sha256="a" * 64, content_type="text/plain", file_name="a.txt"),
    created_at=NOW,
    updated_at=NOW,
)
DOCUMENT = Document(
    id=DocumentId("doc_1"),
    tenant_id=TenantId("acme"),
    space_id=SpaceId("spc_1"),
    name="Manual",
    status=DocumentStatus.ACTIVE,
    metadata=DocumentMetadata().to_output(),
    lock_version=3,
    active_version_id=VERSION.id,
    candidate_version_id=None,
    last_version_number=1,
    created_by=SubjectId("ana"),
    created_at=NOW,
    updated_at=NOW,
)


def test_a_document_takes_part_in_search_only_when_active_with_a_ready_version() -> None:
    assert is_searchable(DOCUMENT, VERSION)
    assert not is_searchable(DOCUMENT, None)
    assert not is_searchable(DOCUMENT, replace(VERSION, status=VersionStatus.RETIRED))
    assert not is_searchable(replace(DOCUMENT, status=DocumentStatus.DISABLED), VERSION)


def test_a_change_names_the_version_it_was_made_from() -> None:
    require_current(DOCUMENT, 3)
    with pytest.raises(StaleVersion, match="at version 3, not 2"):
        require_current(DOCUMENT, 2)


@pytest.mark.parametrize("status", [VersionStatus.CREATED, VersionStatus.UPLOADED, VersionStatus.INGESTING])
def test_a_candidate_on_its_way_keeps_its_slot(status: VersionStatus) -> None:
    with pytest.raises(OperationPending):
        require_free_slot(DOCUMENT, replace(VERSION, status=status))


def test_a_replacement_raises_the_lock_version_and_takes_the_slot() -> None:
    version = replace(VERSION, id=VersionId("ver_2"), number=2, status=VersionStatus.CREATED)
    after = accept_replacement(DOCUMENT, None, version, LATER)
    assert (after.candidate_version_id, after.active_version_id, after.lock_version) == ("ver_2", "ver_1", 4)
    assert (after.last_version_number, after.status, after.updated_at) == (2, DocumentStatus.ACTIVE, LATER)


def test_a_document_whose_creation_failed_is_created_again_by_a_replacement() -> None:
    failed = replace(DOCUMENT, status=DocumentStatus.CREATE_FAILED, active_version_id=None)
    after = accept_replacement(failed, replace(VERSION, status=VersionStatus.FAILED), VERSION, LATER)
    assert after.status is DocumentStatus.CREATING


@pytest.mark.parametrize("status", [DocumentStatus.DELETING, DocumentStatus.DELETED])
def test_a_document_that_is_going_away_is_not_there(status: DocumentStatus) -> None:
    with pytest.raises(NotFound):
        accept_replacement(replace(DOCUMENT, status=status), None, VERSION, LATER)


def test_only_what_serves_a_version_is_indexed_again() -> None:
    require_reindexable(DOCUMENT, VERSION)
    require_reindexable(replace(DOCUMENT, status=DocumentStatus.DISABLED), VERSION)
    with pytest.raises(Conflict):
        require_reindexable(DOCUMENT, None)
    with pytest.raises(Conflict):
        require_reindexable(replace(DOCUMENT, status=DocumentStatus.CREATE_FAILED), VERSION)


def test_disabling_twice_changes_once() -> None:
    disabled = switched(DOCUMENT, enabled=False, now=LATER)
    assert (disabled.status, disabled.lock_version) == (DocumentStatus.DISABLED, 4)
    assert switched(disabled, enabled=False, now=LATER) is disabled
    assert switched(disabled, enabled=True, now=LATER).status is DocumentStatus.ACTIVE
    with pytest.raises(Conflict):
        switched(replace(DOCUMENT, status=DocumentStatus.CREATING), enabled=True, now=LATER)


@pytest.mark.parametrize(
    ("step", "status"), [(Step.UPLOAD, VersionStatus.CREATED), (Step.INGEST, VersionStatus.UPLOADED)]
)
def test_a_manual_retry_takes_a_failed_version_back_to_before_the_step_that_failed(
    step: Step, status: VersionStatus
) -> None:
    ingesting = replace(VERSION, status=VersionStatus.INGESTING)
    failed = ingesting.failed(step, FailureReason.PROVIDER_UNAVAILABLE, "No.", retryable=True, now=NOW)
    again = failed.reopened(OperationId("op_2"), LATER)
    assert (again.status, again.operation_id) == (status, "op_2")
    assert (again.failure_reason, again.failed_at, again.is_retryable) == (None, None, False)


def test_a_progress_figure_never_goes_back() -> None:
    ingesting = replace(VERSION, status=VersionStatus.INGESTING)
    forward = ingesting.progressed(0, NOW).progressed(60, NOW).progressed(40, LATER)
    assert (forward.progress_percent, forward.progress_updated_at) == (60, NOW)
    assert VERSION.progressed(70, NOW) is VERSION


def test_a_description_changes_what_was_given_and_always_the_lock() -> None:
    tagged = replace(DOCUMENT, metadata=DocumentMetadata(category="a", tags=("x",)).to_output())

    renamed = described(tagged, "Book", None, LATER)
    assert (renamed.name, renamed.metadata, renamed.lock_version) == ("Book", tagged.metadata, 4)
    assert renamed.updated_at == LATER
    patched = described(tagged, None, DocumentMetadataPatch(category=None), LATER)
    assert (patched.name, patched.metadata.category, patched.metadata.tags) == ("Manual", None, ("x",))
    assert described(tagged, "Manual", None, LATER).lock_version == 4


@pytest.mark.parametrize("status", [DocumentStatus.DELETING, DocumentStatus.DELETED])
def test_a_hidden_document_is_not_described(status: DocumentStatus) -> None:
    with pytest.raises(NotFound):
        described(replace(DOCUMENT, status=status), "Book", None, LATER)
