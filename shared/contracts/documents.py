"""Documents and their versions over HTTP: requests and answers, with the rules the client checks between fields."""

from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from shared.contracts.body import Body, Whole
from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    FailureCode,
    OperationStatus,
    ProgressSource,
    VersionStatus,
)
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId, VersionId
from shared.contracts.metadata import (
    DocumentMetadata,
    DocumentMetadataOutput,
    DocumentMetadataPatch,
    normalise_metadata,
    normalise_metadata_patch,
)
from shared.contracts.paging import Listing
from shared.contracts.text import FILE_RESOURCE_ID, DocumentName, FileName, Id, MimeType, Reason
from shared.contracts.wire import Maybe, UtcTime

LockVersion = Annotated[int, Whole(0)]
FileSize = Annotated[int, Whole(0)]
NamedFile = Annotated[FileResourceId, FILE_RESOURCE_ID]

COMPLETE: Final = frozenset({VersionStatus.READY, VersionStatus.RETIRED})
"""A version in one of these is at 100 percent, and no other is."""
NEVER_CANDIDATE: Final = frozenset({VersionStatus.RETIRED, VersionStatus.DELETED})


# These raise `RequestRefused` through pydantic: wrong metadata have their own code, before any other error.
def _read_metadata(raw: object) -> DocumentMetadata:
    return raw if isinstance(raw, DocumentMetadata) else normalise_metadata(raw)


def _read_metadata_patch(raw: object) -> DocumentMetadataPatch:
    return raw if isinstance(raw, DocumentMetadataPatch) else normalise_metadata_patch(raw)


class DocumentUploadRequest(Body):
    """Make a document of an uploaded file."""

    file_resource_id: NamedFile
    document_name: DocumentName
    metadata: Maybe[Annotated[DocumentMetadata, BeforeValidator(_read_metadata)]] = None


class DocumentUpdateRequest(Body):
    """Rename a document or change its metadata. At least one of the two must be given."""

    name: Maybe[DocumentName] = None
    metadata: Maybe[Annotated[DocumentMetadataPatch, BeforeValidator(_read_metadata_patch)]] = None
    expected_version: LockVersion

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.name is None and (self.metadata is None or not self.metadata.model_fields_set):
            raise ValueError("name or a field of metadata must be given")
        return self


class DocumentReplaceRequest(Body):
    """Replace a document's content by another uploaded file."""

    file_resource_id: NamedFile
    expected_version: LockVersion
    reason: Maybe[Reason] = None


class DocumentLockRequest(Body):
    """Enable, disable or reindex a document."""

    expected_version: LockVersion
    reason: Maybe[Reason] = None


class DocumentDeleteRequest(Body):
    """Delete a document."""

    expected_version: LockVersion
    reason: Reason


class EmptyRequest(Body):
    """A body that must be there and hold nothing."""


class VersionSummary(Body):
    """The active version, as a list shows it."""

    version_id: Id[VersionId]
    version_number: Annotated[int, Whole(1)]
    status: VersionStatus
    file_name: Annotated[str, Field(max_length=1024)]
    mime_type: Annotated[str, Field(max_length=256)]
    file_size: FileSize
    failure_code: Maybe[FailureCode] = None


class Document(Body):
    """A document, as lists and immediate changes answer it."""

    document_id: Id[DocumentId]
    knowledge_space_id: Id[SpaceId]
    name: Annotated[str, Field(max_length=255)]
    status: DocumentStatus
    version: LockVersion
    metadata: DocumentMetadataOutput
    active_version: VersionSummary | None


class DocumentList(Listing[Document]):
    """One page of documents."""


class DocumentOperationAccepted(Body):
    """A document's operation was accepted and will reach a terminal state."""

    document_id: Id[DocumentId]
    operation_id: Id[OperationId]
    status: OperationStatus


class VersionError(Body):
    """Why a version failed. Agents read this text: it must be safe to show."""

    code: Annotated[str, Field(min_length=1, max_length=64)]
    message: Annotated[str, Field(min_length=1, max_length=2000)]
    retryable: bool


class VersionDetail(Body):
    """One version in full: all twenty fields, always."""

    version_id: Id[VersionId]
    version_no: Annotated[int, Whole(1)]
    change_type: ChangeType
    status: VersionStatus
    file_name: FileName
    mime_type: MimeType
    file_size: FileSize
    operation_id: Id[OperationId] | None
    operation_status: OperationStatus | None
    progress_percent: Annotated[int, Whole(0, 100)] | None
    progress_source: ProgressSource
    progress_updated_at: UtcTime | None
    retryable: bool
    error: VersionError | None
    created_at: UtcTime
    processing_started_at: UtcTime | None
    ready_at: UtcTime | None
    activated_at: UtcTime | None
    failed_at: UtcTime | None
    cancelled_at: UtcTime | None

    @model_validator(mode="after")
    def _progress_fits_status(self) -> Self:
        terminal = self.progress_source is ProgressSource.TERMINAL_STATE
        if terminal != (self.status in COMPLETE):
            raise ValueError("progressSource is TERMINAL_STATE if and only if the version is READY or RETIRED")
        if terminal and self.progress_percent != 100:
            raise ValueError("progressPercent must be 100 when the version is READY or RETIRED")
        if (self.progress_source is ProgressSource.UNAVAILABLE) != (self.progress_percent is None):
            raise ValueError("progressPercent is null if and only if progressSource is UNAVAILABLE")
        return self

    @model_validator(mode="after")
    def _error_fits_status(self) -> Self:
        if (self.status is VersionStatus.FAILED) != (self.error is not None):
            raise ValueError("error is given if and only if the version is FAILED")
        if self.retryable != (self.error is not None and self.error.retryable):
            raise ValueError("retryable must be what error says, and false without one")
        return self


class DocumentDetail(Body):
    """One document in full, with its active version and its candidate."""

    document_id: Id[DocumentId]
    space_id: Id[SpaceId]
    name: DocumentName
    status: DocumentStatus
    searchable: bool
    metadata: DocumentMetadataOutput
    lock_version: LockVersion
    active_version: VersionDetail | None
    candidate_version: VersionDetail | None
    created_at: UtcTime
    updated_at: UtcTime

    @model_validator(mode="after")
    def _slots_fit(self) -> Self:
        active, candidate = self.active_version, self.candidate_version
        is_served = active is not None and active.status is VersionStatus.READY
        if self.searchable != (self.status is DocumentStatus.ACTIVE and is_served):
            raise ValueError("searchable is true if and only if the document is ACTIVE and its active version READY")
        if candidate is not None and candidate.status in NEVER_CANDIDATE:
            raise ValueError("a candidate must not be RETIRED or DELETED")
        if active is not None and candidate is not None and active.version_id == candidate.version_id:
            raise ValueError("the active version and the candidate must differ")
        return self
