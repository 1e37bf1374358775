"""A version of a document: its states, and how far reports carry it."""

from dataclasses import dataclass, replace
from datetime import datetime

from shared.contracts.commands import SourceFile
from shared.contracts.enums import ChangeType, FailureReason, Step, VersionStatus
from shared.contracts.ids import DocumentId, FileId, OperationId, SpaceId, TenantId, VersionId
from shared.domain.transitions import Table, may_move, move

_OVER = frozenset({VersionStatus.FAILED, VersionStatus.CANCELLED, VersionStatus.DELETED})

VERSION_MOVES: Table[VersionStatus] = {
    VersionStatus.CREATED: frozenset({VersionStatus.UPLOADING}) | _OVER,
    VersionStatus.UPLOADING: frozenset({VersionStatus.UPLOADED}) | _OVER,
    VersionStatus.UPLOADED: frozenset({VersionStatus.INGESTING}) | _OVER,
    VersionStatus.INGESTING: frozenset({VersionStatus.READY}) | _OVER,
    VersionStatus.READY: frozenset({VersionStatus.RETIRED, VersionStatus.DELETED}),
    VersionStatus.RETIRED: frozenset({VersionStatus.DELETED}),
    VersionStatus.FAILED: frozenset({VersionStatus.CREATED, VersionStatus.UPLOADED, VersionStatus.DELETED}),
    VersionStatus.CANCELLED: frozenset({VersionStatus.DELETED}),
    VersionStatus.DELETED: frozenset(),
}

_FORWARD = (
    VersionStatus.CREATED,
    VersionStatus.UPLOADING,
    VersionStatus.UPLOADED,
    VersionStatus.INGESTING,
    VersionStatus.READY,
)

IN_STEP: dict[Step, VersionStatus] = {
    Step.UPLOAD: VersionStatus.UPLOADING,
    Step.INGEST: VersionStatus.INGESTING,
    Step.REINDEX: VersionStatus.UPLOADING,
}
"""What a version is while a step works on it."""

RUNNING = frozenset(_FORWARD[:-1])
"""A candidate in one of these is still being worked on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a document: one file, one provider document."""

    id: VersionId
    tenant_id: TenantId
    space_id: SpaceId
    document_id: DocumentId
    operation_id: OperationId
    """The operation that works, or last worked, on it."""
    number: int
    change_type: ChangeType
    status: VersionStatus
    file_id: FileId
    source: SourceFile
    native_document_id: str | None = None
    chunk_count: int | None = None
    progress_percent: int | None = None
    progress_updated_at: datetime | None = None
    failure_reason: FailureReason | None = None
    failure_text: str | None = None
    is_retryable: bool = False
    failed_step: Step | None = None
    created_at: datetime
    updated_at: datetime
    processing_started_at: datetime | None = None
    ready_at: datetime | None = None
    activated_at: datetime | None = None
    failed_at: datetime | None = None
    cancelled_at: datetime | None = None

    def moved(self, status: VersionStatus, now: datetime) -> "Version":
        """The version in another status."""
        return replace(self, status=move(VERSION_MOVES, self.status, status), updated_at=now)

    def advanced(self, status: VersionStatus, now: datetime) -> "Version":
        """The version carried forward to `status` through every status between; unchanged if it is not before it.

        Hints may be lost, so an upload may be reported done by a version that never seemed to upload.
        """
        version = self
        while version.status in _FORWARD and _FORWARD.index(version.status) < _FORWARD.index(status):
            version = version.moved(_FORWARD[_FORWARD.index(version.status) + 1], now)
        if version is self:
            return self
        return replace(version, processing_started_at=version.processing_started_at or now)

    def progressed(self, percent: int, now: datetime) -> "Version":
        """The version with a newer progress figure; figures never go back."""
        if self.status not in RUNNING or percent <= (self.progress_percent or -1):
            return self
        return replace(self, progress_percent=percent, progress_updated_at=now, updated_at=now)

    def failed(self, step: Step, reason: FailureReason, text: str, *, retryable: bool, now: datetime) -> "Version":
        """The version after its operation gave up on it."""
        return replace(
            self.moved(VersionStatus.FAILED, now),
            failure_reason=reason,
            failure_text=text,
            is_retryable=retryable,
            failed_step=step,
            failed_at=now,
        )

    def cancelled(self, now: datetime) -> "Version":
        """The version after its operation was cancelled; unchanged if it is over already."""
        if not may_move(VERSION_MOVES, self.status, VersionStatus.CANCELLED):
            return self
        return replace(self.moved(VersionStatus.CANCELLED, now), cancelled_at=now)

    def reopened(self, operation_id: OperationId, now: datetime) -> "Version":
        """A FAILED version taken back to just before the step that failed, for a manual retry."""
        before = VersionStatus.UPLOADED if self.failed_step is Step.INGEST else VersionStatus.CREATED
        return replace(
            self.moved(before, now),
            operation_id=operation_id,
            failure_reason=None,
            failure_text=None,
            is_retryable=False,
            failed_step=None,
            failed_at=None,
            progress_percent=None,
            progress_updated_at=None,
        )

    @property
    def is_over(self) -> bool:
        """True when nothing will ever be searched in it: purging it by name is safe."""
        return self.status in {VersionStatus.CANCELLED, VersionStatus.RETIRED, VersionStatus.DELETED}
