"""A gateway that keeps documents in memory, as far as an ingestion asks about them."""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from services.cli.ingest.sources import Source
from shared.client.errors import ErrorAnswer, Refused
from shared.client.gateway import AT_ONCE
from shared.client.resumable import OpenContent
from shared.contracts.documents import (
    DocumentDetail,
    DocumentOperationAccepted,
    DocumentReplaceRequest,
    DocumentUploadRequest,
    VersionDetail,
    VersionError,
)
from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    OperationStatus,
    OperationType,
    ProgressSource,
    VersionStatus,
)
from shared.contracts.files import FileResource
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.contracts.operations import Operation

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NO_METADATA = DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None)
ENCRYPTED = VersionError(code="FILE_ENCRYPTED", message="The file is encrypted.", retryable=False)


class Lost(Exception):
    """The process ends here."""


def refused(status: int, code: str) -> Refused:
    """A refusal of the gateway."""
    return Refused(
        ErrorAnswer(status=status, code=code, message="No.", retryable=False, field_errors=(), request_id="r")
    )


@dataclass(frozen=True)
class Kept:
    """A document as the gateway keeps it."""

    id: DocumentId
    name: str
    content: str
    operation: OperationId
    lock_version: int = 0
    error: VersionError | None = None


@dataclass
class FakeGateway:
    """Contents are told by their SHA-256; `failing` ones end FAILED."""

    failing: dict[str, VersionError] = field(default_factory=dict)
    documents: dict[DocumentId, Kept] = field(default_factory=dict)
    resources: dict[FileResourceId, str] = field(default_factory=dict)
    answers: dict[str, DocumentOperationAccepted] = field(default_factory=dict)
    uploads: int = 0
    lose_answers: bool = False

    async def upload(self, name: str, open_content: OpenContent, *, size: int) -> FileResource:
        content = b"".join([piece async for piece in open_content()])
        self.uploads += 1
        resource_id = FileResourceId(f"frs_{self.uploads}")
        self.resources[resource_id] = hashlib.sha256(content).hexdigest()
        return FileResource(
            file_resource_id=resource_id,
            file_name=name,
            mime_type="text/plain",
            file_size=len(content),
            sha256=self.resources[resource_id],
            expires_at=NOON + timedelta(days=1),
            deduplicated=False,
        )

    async def upload_document(
        self, space_id: SpaceId, request: DocumentUploadRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        document_id = DocumentId(f"doc_{len(self.answers) + 1}")
        return self._take(key, request.file_resource_id, document_id, request.document_name, 0)

    async def replace_document(
        self, document_id: DocumentId, request: DocumentReplaceRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        current = self.documents[document_id]
        if key not in self.answers and request.expected_version != current.lock_version:
            raise refused(409, "DOCUMENT_VERSION_CONFLICT")
        return self._take(key, request.file_resource_id, document_id, current.name, current.lock_version + 1)

    async def get_operation(self, operation_id: OperationId, *, wait: timedelta = AT_ONCE) -> Operation:
        kept = next((one for one in self.documents.values() if one.operation == operation_id), None)
        if kept is None:
            raise refused(404, "OPERATION_NOT_FOUND")
        return Operation(
            operation_id=operation_id,
            status=OperationStatus.SUCCEEDED if kept.error is None else OperationStatus.FAILED,
            operation_type=OperationType.DOCUMENT_UPLOAD,
            created_at=NOON,
            retryable=False if kept.error is None else kept.error.retryable,
        )

    async def get_document(self, document_id: DocumentId) -> DocumentDetail:
        if document_id not in self.documents:
            raise refused(404, "DOCUMENT_NOT_FOUND")
        kept = self.documents[document_id]
        return DocumentDetail(
            document_id=document_id,
            space_id=SpaceId("spc_1"),
            name=kept.name,
            status=DocumentStatus.ACTIVE if kept.error is None else DocumentStatus.CREATE_FAILED,
            searchable=kept.error is None,
            metadata=NO_METADATA,
            lock_version=kept.lock_version,
            active_version=version(None) if kept.error is None else None,
            candidate_version=None if kept.error is None else version(kept.error),
            created_at=NOON,
            updated_at=NOON,
        )

    def expire_resources(self) -> None:
        """A day has passed."""
        self.resources.clear()

    def contents(self) -> list[tuple[str, str]]:
        """Name and content of every document."""
        return sorted((one.name, one.content) for one in self.documents.values())

    def _take(
        self, key: str | None, resource_id: FileResourceId, document_id: DocumentId, name: str, lock_version: int
    ) -> DocumentOperationAccepted:
        assert key is not None
        if key in self.answers:
            return self.answers[key]
        if resource_id not in self.resources:
            raise refused(404, "FILE_NOT_FOUND")
        content = self.resources[resource_id]
        kept = Kept(id=document_id, name=name, content=content, operation=OperationId(f"op_{len(self.answers) + 1}"))
        self.documents[document_id] = replace(kept, lock_version=lock_version, error=self.failing.get(content))
        self.answers[key] = DocumentOperationAccepted(
            document_id=document_id, operation_id=kept.operation, status=OperationStatus.PENDING
        )
        if self.lose_answers:
            raise Lost
        return self.answers[key]


def version(error: VersionError | None) -> VersionDetail:
    """A version that is READY, or FAILED with the error."""
    return VersionDetail(
        version_id=VersionId("ver_1"),
        version_no=1,
        change_type=ChangeType.INITIAL_UPLOAD,
        status=VersionStatus.READY if error is None else VersionStatus.FAILED,
        file_name="a.txt",
        mime_type="text/plain",
        file_size=1,
        operation_id=None,
        operation_status=None,
        progress_percent=100 if error is None else None,
        progress_source=ProgressSource.TERMINAL_STATE if error is None else ProgressSource.UNAVAILABLE,
        progress_updated_at=None,
        retryable=False if error is None else error.retryable,
        error=error,
        created_at=NOON,
        processing_started_at=None,
        ready_at=None,
        activated_at=None,
        failed_at=None,
        cancelled_at=None,
    )


class Silent:
    """A report that shows nothing."""

    def hashing(self, source: Source) -> None:
        """Nothing."""

    def sending(self, source: Source, sent: int, size: int) -> None:
        """Nothing."""

    def working(self, source: Source, status: OperationStatus, percent: int | None) -> None:
        """Nothing."""

    def unanswered(self, source: Source) -> None:
        """Nothing."""
