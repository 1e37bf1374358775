"""One answer of each kind, built as our services build them; `answers.json` holds what they look like on the wire."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from shared.contracts.body import Body
from shared.contracts.documents import (
    Document,
    DocumentDetail,
    DocumentList,
    DocumentOperationAccepted,
    VersionDetail,
    VersionError,
    VersionSummary,
)
from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    FailureCode,
    LocationPrecision,
    OperationStatus,
    OperationType,
    ProgressSource,
    ResourceType,
    SpaceStatus,
    VersionStatus,
)
from shared.contracts.envelope import Envelope, ErrorEnvelope, ListEnvelope, ListSuccessMeta, SuccessMeta
from shared.contracts.errors import ApiError, ErrorCode, FieldError
from shared.contracts.files import FileResource
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.contracts.operations import ManualRetryAccepted, Operation
from shared.contracts.paging import Pagination
from shared.contracts.retrieval import CitationSource, DownloadLink, RetrievalEmpty, RetrievalHit, RetrievalMatches
from shared.contracts.spaces import Space, SpaceCreated, SpaceList, SpaceOperationAccepted, SpaceUpdated
from shared.contracts.transition_events import TransitionEvent

NOON: Final = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
IN_SHANGHAI: Final = datetime(2026, 5, 4, 20, 0, 0, 123456, tzinfo=timezone(timedelta(hours=8)))
SPACE: Final = SpaceId("space-1")
DOCUMENT: Final = DocumentId("document-1")
OPERATION: Final = OperationId("operation-1")

METADATA: Final = DocumentMetadataOutput(category="财务", tags=("政策", "2026"), version_label="v2", product_code=None)
NO_METADATA: Final = DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None)

ACTIVE_VERSION: Final = VersionDetail(
    version_id=VersionId("version-1"),
    version_no=1,
    change_type=ChangeType.INITIAL_UPLOAD,
    status=VersionStatus.READY,
    file_name="差旅.pdf",
    mime_type="application/pdf",
    file_size=0,
    operation_id=OPERATION,
    operation_status=OperationStatus.SUCCEEDED,
    progress_percent=100,
    progress_source=ProgressSource.TERMINAL_STATE,
    progress_updated_at=NOON,
    retryable=False,
    error=None,
    created_at=IN_SHANGHAI,
    processing_started_at=NOON,
    ready_at=NOON,
    activated_at=NOON,
    failed_at=None,
    cancelled_at=None,
)
FAILED_CANDIDATE: Final = VersionDetail(
    version_id=VersionId("version-2"),
    version_no=2,
    change_type=ChangeType.REPLACE,
    status=VersionStatus.FAILED,
    file_name="travel.pdf",
    mime_type="application/pdf",
    file_size=2048,
    operation_id=None,
    operation_status=None,
    progress_percent=None,
    progress_source=ProgressSource.UNAVAILABLE,
    progress_updated_at=None,
    retryable=True,
    error=VersionError(code="PROVIDER_UNAVAILABLE", message="The service did not answer.", retryable=True),
    created_at=NOON,
    processing_started_at=None,
    ready_at=None,
    activated_at=None,
    failed_at=NOON,
    cancelled_at=None,
)
HIT: Final = RetrievalHit(
    citation_id="citation-1",
    document_id=DOCUMENT,
    document_name="差旅",
    chapter_path=("一", "二"),
    content="每天 500 元 😀",
    score=1.0,
    location_precision=LocationPrecision.EXACT_OFFSET,
    page=3,
    metadata=METADATA,
)
SMALL_SPACE: Final = Space(
    space_id=SPACE, code="finance", name="Finance", status=SpaceStatus.CREATING, version=1, description=None
)
FULL_SPACE: Final = Space(
    space_id=SPACE,
    code="finance",
    name="Finance",
    description="",
    profile_code="enterprise-long-document",
    default_security_domain_code="internal",
    status=SpaceStatus.ACTIVE,
    version=2,
)
SMALL_DOCUMENT: Final = Document(
    document_id=DOCUMENT,
    knowledge_space_id=SPACE,
    name="差旅",
    status=DocumentStatus.CREATING,
    version=0,
    metadata=NO_METADATA,
    active_version=None,
)
FULL_DOCUMENT: Final = Document(
    document_id=DOCUMENT,
    knowledge_space_id=SPACE,
    name="差旅",
    status=DocumentStatus.ACTIVE,
    version=3,
    metadata=METADATA,
    active_version=VersionSummary(
        version_id=VersionId("version-1"),
        version_number=1,
        status=VersionStatus.READY,
        file_name="差旅.pdf",
        mime_type="application/pdf",
        file_size=2048,
    ),
)
ERROR: Final = ApiError.of(
    ErrorCode.INVALID_INPUT,
    field_errors=(FieldError(field="$.name", reason="MISSING", message="Field required"),),
)

ANSWER_SAMPLES: Final[Mapping[str, tuple[Body, ...]]] = {
    "DocumentMetadataOutput": (METADATA, NO_METADATA),
    "Space": (SMALL_SPACE, FULL_SPACE),
    "SpaceCreated": (
        SpaceCreated(space_id=SPACE, code="finance", name="Finance", status=SpaceStatus.CREATING, version=1),
    ),
    "SpaceUpdated": (
        SpaceUpdated(space_id=SPACE, name="Finance", description="Rules", status=SpaceStatus.ACTIVE, version=2),
    ),
    "SpaceList": (SpaceList(items=(SMALL_SPACE,)), SpaceList(items=())),
    "SpaceOperationAccepted": (
        SpaceOperationAccepted(space_id=SPACE, operation_id=OPERATION, status=OperationStatus.PENDING),
    ),
    "VersionSummary": (
        VersionSummary(
            version_id=VersionId("version-1"),
            version_number=1,
            status=VersionStatus.FAILED,
            file_name="a.txt",
            mime_type="text/plain",
            file_size=0,
            failure_code=FailureCode.INVALID_INPUT,
        ),
    ),
    "Document": (SMALL_DOCUMENT, FULL_DOCUMENT),
    "DocumentList": (DocumentList(items=(FULL_DOCUMENT,)),),
    "DocumentOperationAccepted": (
        DocumentOperationAccepted(document_id=DOCUMENT, operation_id=OPERATION, status=OperationStatus.RUNNING),
    ),
    "VersionError": (VersionError(code="FILE_EMPTY", message="The file is empty.", retryable=False),),
    "VersionDetail": (ACTIVE_VERSION, FAILED_CANDIDATE),
    "DocumentDetail": (
        DocumentDetail(
            document_id=DOCUMENT,
            space_id=SPACE,
            name="差旅",
            status=DocumentStatus.ACTIVE,
            searchable=True,
            metadata=METADATA,
            lock_version=0,
            active_version=ACTIVE_VERSION,
            candidate_version=FAILED_CANDIDATE,
            created_at=NOON,
            updated_at=IN_SHANGHAI,
        ),
    ),
    "RetrievalHit": (HIT,),
    "RetrievalMatches": (RetrievalMatches(query=" 差旅 ", hits=(HIT,), trace_id="trace-1"),),
    "RetrievalEmpty": (RetrievalEmpty.of(query="差旅", trace_id="trace-1"),),
    "CitationSource": (
        CitationSource(
            citation_id="citation-1",
            document_id=DOCUMENT,
            version_id=VersionId("version-1"),
            document_name="差旅",
            chapter_path=(),
            page_start=3,
            page_end=3,
            before_content="😀",
            matched_content="每天 500 元",
            after_content="",
            requested_context_before=1000,
            requested_context_after=0,
            actual_context_before=1,
            actual_context_after=0,
            matched_content_truncated=False,
            location_precision=LocationPrecision.CHUNK_APPROXIMATE,
        ),
    ),
    "DownloadLink": (
        DownloadLink(
            document_id=DOCUMENT,
            version_id=VersionId("version-1"),
            file_name="差旅.pdf",
            mime_type="application/pdf",
            file_size=2048,
            download_url="http://127.0.0.1:8080/downloads/token",
            expires_at=IN_SHANGHAI,
            expires_in_seconds=60,
        ),
    ),
    "Operation": (
        Operation(
            operation_id=OPERATION,
            status=OperationStatus.PENDING,
            operation_type=OperationType.DOCUMENT_UPLOAD,
            created_at=NOON,
        ),
        Operation(
            operation_id=OPERATION,
            parent_operation_id=OperationId("operation-0"),
            status=OperationStatus.FAILED,
            operation_type=OperationType.DOCUMENT_REPLACE,
            resource_type=ResourceType.DOCUMENT,
            resource_id=DOCUMENT,
            manual_retry_attempt=1,
            created_at=NOON,
            updated_at=NOON,
            failure_code=FailureCode.PROVIDER_UNAVAILABLE,
            next_poll_after_ms=0,
            retryable=True,
            retry_count=5,
            last_retry_at=NOON,
            next_retry_at=None,
        ),
    ),
    "ManualRetryAccepted": (
        ManualRetryAccepted(
            operation_id=OperationId("operation-2"), parent_operation_id=OPERATION, status=OperationStatus.PENDING
        ),
    ),
    "Pagination": (Pagination.of(page=2, page_size=20, total_items=41),),
    "FieldError": ERROR.field_errors,
    "ApiError": (ERROR, ApiError.of(ErrorCode.RATE_LIMITED)),
    "SuccessMeta": (SuccessMeta.of("request-1", "trace-1", NOON),),
    "ListSuccessMeta": (ListSuccessMeta.of("request-1", "trace-1", NOON, Pagination.of(1, 20, 0)),),
    "ErrorMeta": (ErrorEnvelope.of("request-1", "trace-1", NOON, ERROR).meta,),
    "ErrorEnvelope": (ErrorEnvelope.of("request-1", "trace-1", NOON, ERROR),),
}

OWN_SAMPLES: Final[Mapping[str, tuple[Body, ...]]] = {
    "Envelope[Space]": (Envelope[Space](data=FULL_SPACE, meta=SuccessMeta.of("request-1", "trace-1", NOON)),),
    "ListEnvelope[SpaceList]": (
        ListEnvelope[SpaceList](
            data=SpaceList(items=(FULL_SPACE,)),
            meta=ListSuccessMeta.of("request-1", "trace-1", NOON, Pagination.of(page=3, page_size=1, total_items=3)),
        ),
    ),
    "FileResource": (
        FileResource(
            file_resource_id=FileResourceId("file-1"),
            file_name="差旅.pdf",
            mime_type="application/pdf",
            file_size=2048,
            sha256="0" * 64,
            expires_at=NOON,
            deduplicated=False,
        ),
        FileResource(
            file_resource_id=FileResourceId("file-2"),
            file_name="copy.pdf",
            mime_type="application/pdf",
            file_size=2048,
            sha256="0" * 64,
            expires_at=NOON,
            deduplicated=True,
            documents=(DocumentId("document-1"), DocumentId("document-2")),
        ),
    ),
    "TransitionEvent": (
        TransitionEvent(
            seq=1,
            at=NOON,
            action="space.creating",
            resource_type=ResourceType.SPACE,
            resource_id="space-1",
            after="CREATING",
        ),
        TransitionEvent(
            seq=17,
            at=NOON,
            action="operation.succeeded",
            resource_type=ResourceType.OPERATION,
            resource_id="operation-1",
            operation_id=OperationId("operation-1"),
            before="RUNNING",
            after="SUCCEEDED",
        ),
    ),
}
