"""The rules between the fields of documents and versions that the client checks on every answer."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from shared.contracts.documents import DocumentDetail, DocumentUpdateRequest, VersionDetail, VersionError
from shared.contracts.enums import ChangeType, DocumentStatus, ProgressSource, VersionStatus
from shared.contracts.errors import RequestRefused
from shared.contracts.ids import DocumentId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.contracts.reading import read_body

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
NO_METADATA = DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None)
ERROR = VersionError(code="FILE_EMPTY", message="The file is empty.", retryable=False)
RETRYABLE = VersionError(code="PROVIDER_UNAVAILABLE", message="Not now.", retryable=True)

TERMINAL, REPORTED, UNKNOWN = ProgressSource.TERMINAL_STATE, ProgressSource.PROVIDER, ProgressSource.UNAVAILABLE
NOT_COMPLETE = sorted(set(VersionStatus) - {VersionStatus.READY, VersionStatus.RETIRED})


def version(status: VersionStatus = VersionStatus.READY, name: str = "v1", **changes: Any) -> VersionDetail:
    complete = status in (VersionStatus.READY, VersionStatus.RETIRED)
    fields: dict[str, Any] = {
        "version_id": VersionId(name),
        "version_no": 1,
        "change_type": ChangeType.INITIAL_UPLOAD,
        "status": status,
        "file_name": "a.txt",
        "mime_type": "text/plain",
        "file_size": 1,
        "operation_id": None,
        "operation_status": None,
        "progress_percent": 100 if complete else None,
        "progress_source": TERMINAL if complete else UNKNOWN,
        "progress_updated_at": None,
        "retryable": False,
        "error": ERROR if status is VersionStatus.FAILED else None,
        "created_at": NOON,
        "processing_started_at": None,
        "ready_at": None,
        "activated_at": None,
        "failed_at": None,
        "cancelled_at": None,
    }
    return VersionDetail(**(fields | changes))


def detail(
    status: DocumentStatus = DocumentStatus.ACTIVE,
    *,
    searchable: bool = False,
    active: VersionDetail | None = None,
    candidate: VersionDetail | None = None,
) -> DocumentDetail:
    return DocumentDetail(
        document_id=DocumentId("d"),
        space_id=SpaceId("s"),
        name="A",
        status=status,
        searchable=searchable,
        metadata=NO_METADATA,
        lock_version=0,
        active_version=active,
        candidate_version=candidate,
        created_at=NOON,
        updated_at=NOON,
    )


@pytest.mark.parametrize("status", VersionStatus)
def test_a_version_of_each_status_can_be_told(status: VersionStatus) -> None:
    assert version(status).status is status


@pytest.mark.parametrize("status", [VersionStatus.READY, VersionStatus.RETIRED])
@pytest.mark.parametrize(("percent", "source"), [(99, TERMINAL), (None, TERMINAL), (100, REPORTED), (None, UNKNOWN)])
def test_a_finished_version_is_at_a_hundred_percent(
    status: VersionStatus, percent: int | None, source: ProgressSource
) -> None:
    with pytest.raises(ValidationError):
        version(status, progress_percent=percent, progress_source=source)


@pytest.mark.parametrize("status", NOT_COMPLETE)
def test_no_other_version_has_terminal_progress(status: VersionStatus) -> None:
    with pytest.raises(ValidationError, match="TERMINAL_STATE"):
        version(status, progress_percent=100, progress_source=TERMINAL)


@pytest.mark.parametrize("percent", [0, 55, 100])
def test_a_provider_may_report_any_percentage(percent: int) -> None:
    reported = version(VersionStatus.INGESTING, progress_percent=percent, progress_source=REPORTED)

    assert reported.progress_percent == percent


@pytest.mark.parametrize(("percent", "source"), [(None, REPORTED), (0, UNKNOWN), (101, REPORTED), (-1, REPORTED)])
def test_progress_is_never_invented(percent: int | None, source: ProgressSource) -> None:
    with pytest.raises(ValidationError):
        version(VersionStatus.INGESTING, progress_percent=percent, progress_source=source)


@pytest.mark.parametrize("status", sorted(set(VersionStatus) - {VersionStatus.FAILED}))
def test_only_a_failed_version_has_an_error(status: VersionStatus) -> None:
    with pytest.raises(ValidationError, match="FAILED"):
        version(status, error=ERROR)
    with pytest.raises(ValidationError, match="retryable"):
        version(status, retryable=True)


def test_a_failed_version_has_an_error_and_its_word_on_retrying() -> None:
    assert version(VersionStatus.FAILED, error=RETRYABLE, retryable=True).retryable
    for changes in ({"error": None}, {"error": RETRYABLE}, {"error": ERROR, "retryable": True}):
        with pytest.raises(ValidationError):
            version(VersionStatus.FAILED, **changes)


@pytest.mark.parametrize("status", DocumentStatus)
@pytest.mark.parametrize("active", [None, version(), version(VersionStatus.RETIRED)])
@pytest.mark.parametrize("searchable", [False, True])
def test_searchable_means_active_with_a_ready_active_version(
    status: DocumentStatus, active: VersionDetail | None, searchable: bool
) -> None:
    is_true = status is DocumentStatus.ACTIVE and active is not None and active.status is VersionStatus.READY
    if searchable == is_true:
        assert detail(status, searchable=searchable, active=active).searchable is is_true
    else:
        with pytest.raises(ValidationError, match="searchable"):
            detail(status, searchable=searchable, active=active)


@pytest.mark.parametrize("status", VersionStatus)
def test_a_candidate_is_neither_retired_nor_deleted(status: VersionStatus) -> None:
    candidate = version(status, name="v2")
    if status in (VersionStatus.RETIRED, VersionStatus.DELETED):
        with pytest.raises(ValidationError, match="candidate"):
            detail(searchable=True, active=version(), candidate=candidate)
    else:
        assert detail(searchable=True, active=version(), candidate=candidate).candidate_version == candidate


def test_the_two_slots_hold_two_versions() -> None:
    with pytest.raises(ValidationError, match="differ"):
        detail(searchable=True, active=version(), candidate=version(VersionStatus.FAILED, name="v1"))


@pytest.mark.parametrize("status", [DocumentStatus.CREATING, DocumentStatus.CREATE_FAILED])
def test_a_document_without_any_version_can_be_told(status: DocumentStatus) -> None:
    assert detail(status).active_version is None


def test_an_update_must_change_something() -> None:
    for body in (b'{"expectedVersion":0}', b'{"expectedVersion":0,"metadata":{}}'):
        with pytest.raises(RequestRefused):
            read_body(DocumentUpdateRequest, body)


def test_an_update_may_rename_with_empty_metadata_or_clear_one_field() -> None:
    renamed = read_body(DocumentUpdateRequest, b'{"expectedVersion":0,"name":"A","metadata":{}}')
    cleared = read_body(DocumentUpdateRequest, b'{"expectedVersion":0,"metadata":{"category":null}}')

    assert (renamed.name, renamed.expected_version) == ("A", 0)
    assert cleared.to_json() == b'{"metadata":{"category":null},"expectedVersion":0}'
