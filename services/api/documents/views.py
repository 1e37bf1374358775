"""What documents and versions look like over HTTP, by the rules that the agents' client checks between fields."""

from dataclasses import dataclass
from typing import Final

from shared.contracts.documents import (
    COMPLETE,
    DocumentDetail,
    DocumentOperationAccepted,
    VersionDetail,
    VersionError,
    VersionSummary,
)
from shared.contracts.documents import Document as DocumentBody
from shared.contracts.enums import FailureReason, OperationStatus, ProgressSource, VersionStatus
from shared.domain.document import Document, is_searchable
from shared.domain.failure import FAILURES, failure_code
from shared.domain.transitions import IllegalMove
from shared.domain.version import Version
from shared.domain.work import Work

NOT_TOLD: Final = FailureReason.INTERNAL_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A version in one of a document's slots, and how the operation stands that works, or last worked, on it."""

    version: Version
    operation_status: OperationStatus | None


def document_body(document: Document, active: Version | None) -> DocumentBody:
    """The document as lists show it."""
    return DocumentBody(
        document_id=document.id,
        knowledge_space_id=document.space_id,
        name=document.name,
        status=document.status,
        version=document.lock_version,
        metadata=document.metadata,
        active_version=None if active is None else version_summary(active),
    )


def document_detail(document: Document, active: Slot | None, candidate: Slot | None) -> DocumentDetail:
    """The document in full."""
    return DocumentDetail(
        document_id=document.id,
        space_id=document.space_id,
        name=document.name,
        status=document.status,
        searchable=is_searchable(document, None if active is None else active.version),
        metadata=document.metadata,
        lock_version=document.lock_version,
        active_version=None if active is None else version_detail(active),
        candidate_version=None if candidate is None else version_detail(candidate),
        created_at=document.created_at,
        updated_at=document.updated_at,
    )


def version_summary(version: Version) -> VersionSummary:
    """The version as lists show it."""
    reason = version.failure_reason
    return VersionSummary(
        version_id=version.id,
        version_number=version.number,
        status=version.status,
        file_name=version.source.file_name,
        mime_type=version.source.content_type,
        file_size=version.source.size,
        failure_code=None if reason is None else failure_code(reason),
    )


def version_detail(slot: Slot) -> VersionDetail:
    """The version in full."""
    version = slot.version
    percent, source = progress(version)
    error = version_error(version)
    return VersionDetail(
        version_id=version.id,
        version_no=version.number,
        change_type=version.change_type,
        status=version.status,
        file_name=version.source.file_name,
        mime_type=version.source.content_type,
        file_size=version.source.size,
        operation_id=version.operation_id,
        operation_status=slot.operation_status,
        progress_percent=percent,
        progress_source=source,
        progress_updated_at=version.progress_updated_at,
        retryable=error is not None and error.retryable,
        error=error,
        created_at=version.created_at,
        processing_started_at=version.processing_started_at,
        ready_at=version.ready_at,
        activated_at=version.activated_at,
        failed_at=version.failed_at,
        cancelled_at=version.cancelled_at,
    )


def progress(version: Version) -> tuple[int | None, ProgressSource]:
    """How far the version is and who says so. Nothing is made up: a provider that tells nothing leaves it unknown."""
    if version.status in COMPLETE:
        return 100, ProgressSource.TERMINAL_STATE
    if version.progress_percent is None:
        return None, ProgressSource.UNAVAILABLE
    return version.progress_percent, ProgressSource.PROVIDER


def version_error(version: Version) -> VersionError | None:
    """Why the version FAILED, in a code and a text that are safe for agents to read."""
    if version.status is not VersionStatus.FAILED:
        return None
    reason = version.failure_reason or NOT_TOLD
    return VersionError(
        code=reason.value, message=version.failure_text or FAILURES[reason].text, retryable=version.is_retryable
    )


def operation_accepted(work: Work) -> DocumentOperationAccepted:
    """What is answered to an upload or a replacement that was taken on."""
    if work.document is None:
        raise IllegalMove(f"operation {work.operation.id} is not about a document")
    return DocumentOperationAccepted(
        document_id=work.document.id, operation_id=work.operation.id, status=work.operation.status
    )
