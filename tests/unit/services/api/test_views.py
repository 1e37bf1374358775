"""What versions look like over HTTP: the rules that the agents' client checks between fields."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.api.documents.views import NOT_TOLD, Slot, document_detail, progress, version_detail, version_summary
from services.api.operations.views import operation_body, polled_operation
from shared.contracts.commands import SourceFile
from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    FailureReason,
    OperationStatus,
    OperationType,
    ProgressSource,
    ResourceType,
    VersionStatus,
)
from shared.contracts.ids import DocumentId, FileId, OperationId, SpaceId, SubjectId, TenantId, VersionId
from shared.contracts.metadata import DocumentMetadata
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.version import Version

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)

VERSION = Version(
    id=VersionId("ver_1"),
    tenant_id=TenantId("acme"),
    space_id=SpaceId("spc_1"),
    document_id=DocumentId("doc_1"),
    operation_id=OperationId("op_1"),
    number=1,
    change_type=ChangeType.INITIAL_UPLOAD,
    status=VersionStatus.INGESTING,
    file_id=FileId("fil_1"),
    source=SourceFile(object_key="objects/a", size=3, sha256="0" * 64, content_type="text/plain", file_name="a.txt"),
    created_at=NOW,
    updated_at=NOW,
)
DOCUMENT = Document(
    id=DocumentId("doc_1"),
    tenant_id=TenantId("acme"),
    space_id=SpaceId("spc_1"),
    name="A",
    status=DocumentStatus.ACTIVE,
    metadata=DocumentMetadata().to_output(),
    lock_version=3,
    active_version_id=VersionId("ver_1"),
    candidate_version_id=None,
    last_version_number=1,
    created_by=SubjectId("alice"),
    created_at=NOW,
    updated_at=NOW,
)
OPERATION = Operation(
    id=OperationId("op_1"),
    tenant_id=TenantId("acme"),
    type=OperationType.DOCUMENT_UPLOAD,
    status=OperationStatus.RUNNING,
    resource_type=ResourceType.DOCUMENT,
    resource_id="doc_1",
    space_id=SpaceId("spc_1"),
    root_id=OperationId("op_1"),
    created_by=SubjectId("alice"),
    created_at=NOW,
    updated_at=NOW,
)


@pytest.mark.parametrize("percent", [None, 0, 40, 100])
@pytest.mark.parametrize("status", VersionStatus)
def test_every_status_with_every_figure_keeps_the_contracts_rules(status: VersionStatus, percent: int | None) -> None:
    version = replace(VERSION, status=status, progress_percent=percent)

    detail = version_detail(Slot(version=version, operation_status=OperationStatus.RUNNING))

    assert (detail.progress_source is ProgressSource.TERMINAL_STATE) is (
        status in {VersionStatus.READY, VersionStatus.RETIRED}
    )


@pytest.mark.parametrize(
    ("status", "percent", "shown"),
    [
        (VersionStatus.READY, None, (100, ProgressSource.TERMINAL_STATE)),
        (VersionStatus.RETIRED, 30, (100, ProgressSource.TERMINAL_STATE)),
        (VersionStatus.INGESTING, 0, (0, ProgressSource.PROVIDER)),
        (VersionStatus.INGESTING, None, (None, ProgressSource.UNAVAILABLE)),
        (VersionStatus.FAILED, 70, (70, ProgressSource.PROVIDER)),
        (VersionStatus.CANCELLED, None, (None, ProgressSource.UNAVAILABLE)),
    ],
)
def test_progress_is_the_providers_or_none(
    status: VersionStatus, percent: int | None, shown: tuple[int | None, ProgressSource]
) -> None:
    assert progress(replace(VERSION, status=status, progress_percent=percent)) == shown


def test_a_failure_is_told_by_its_reason() -> None:
    version = replace(
        VERSION,
        status=VersionStatus.FAILED,
        failure_reason=FailureReason.PROVIDER_UNAVAILABLE,
        failure_text="It was away.",
        is_retryable=True,
    )

    detail = version_detail(Slot(version=version, operation_status=OperationStatus.FAILED))

    assert detail.error is not None
    assert detail.error.model_dump() == {"code": "PROVIDER_UNAVAILABLE", "message": "It was away.", "retryable": True}
    assert detail.retryable is True
    assert version_summary(version).failure_code == "KNOWLEDGE_PROVIDER_UNAVAILABLE"


def test_a_failure_without_a_reason_is_still_a_failure() -> None:
    detail = version_detail(Slot(version=replace(VERSION, status=VersionStatus.FAILED), operation_status=None))

    assert detail.error is not None
    assert detail.error.code == NOT_TOLD.value


def test_a_version_that_may_be_retried_but_did_not_fail_shows_no_error() -> None:
    version = replace(VERSION, status=VersionStatus.CREATED, is_retryable=True)

    detail = version_detail(Slot(version=version, operation_status=OperationStatus.PENDING))

    assert (detail.error, detail.retryable) == (None, False)


@pytest.mark.parametrize("document_status", DocumentStatus)
@pytest.mark.parametrize("version_status", VersionStatus)
def test_a_document_is_searchable_only_when_it_is_active_and_serves(
    document_status: DocumentStatus, version_status: VersionStatus
) -> None:
    active = Slot(version=replace(VERSION, status=version_status), operation_status=None)

    detail = document_detail(replace(DOCUMENT, status=document_status), active, None)

    is_served = document_status is DocumentStatus.ACTIVE and version_status is VersionStatus.READY
    assert detail.searchable is is_served


def test_an_operation_leaves_out_what_it_has_not() -> None:
    assert operation_body(OPERATION, NOW).to_json() == (
        b'{"operationId":"op_1","status":"RUNNING","operationType":"DOCUMENT_UPLOAD","resourceType":"DOCUMENT",'
        b'"resourceId":"doc_1","manualRetryAttempt":0,"createdAt":"2031-05-06T07:08:09.000Z",'
        b'"updatedAt":"2031-05-06T07:08:09.000Z","nextPollAfterMs":250,"retryable":false,"retryCount":0,'
        b'"lastRetryAt":null,"nextRetryAt":null}'
    )


def test_a_failed_operation_has_one_of_the_seven_codes() -> None:
    failed = OPERATION.gave_up(FailureReason.FILE_ENCRYPTED, "Locked.", retryable=False, now=NOW)

    body = operation_body(failed, NOW)

    assert body.failure_code == "KNOWLEDGE_INVALID_INPUT"
    assert body.next_poll_after_ms == 0


@pytest.mark.parametrize(
    "operation",
    [
        OPERATION,
        replace(OPERATION, parent_id=OperationId("op_0"), manual_attempt=3, status=OperationStatus.PENDING),
        replace(OPERATION, retry_count=5, last_retry_at=NOW, next_retry_at=NOW + timedelta(seconds=9)),
        OPERATION.gave_up(FailureReason.FILE_ENCRYPTED, "Locked.", retryable=False, now=NOW),
        OPERATION.gave_up(FailureReason.WORKER_CRASHED, "It crashed.", retryable=True, now=NOW),
        replace(OPERATION, resource_id='spc_"\\字', resource_type=ResourceType.SPACE, type=OperationType.SPACE_CREATE),
    ],
)
def test_a_poll_is_answered_as_the_contracts_model_would(operation: Operation) -> None:
    assert polled_operation(operation, NOW) == operation_body(operation, NOW).to_json()
