"""Brings one file into a space: finds out whether it is there, sends it if it is not, waits until it is found."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from services.cli.complaints import explain
from services.cli.ingest.manifest import Acceptance, Manifest, Request
from services.cli.ingest.outcomes import Outcome, Result
from services.cli.ingest.sources import Source, pieces_of, sha256_of, written
from shared.client.errors import ContentChanged, Refused
from shared.client.resumable import OpenContent
from shared.client.waiting import ReadsOperations, Waiting, has_succeeded
from shared.contracts.documents import (
    DocumentDetail,
    DocumentOperationAccepted,
    DocumentReplaceRequest,
    DocumentUploadRequest,
)
from shared.contracts.enums import OperationStatus
from shared.contracts.errors import ErrorCode
from shared.contracts.files import FileResource
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.contracts.operations import Operation
from shared.domain.errors import KnowgateError

GONE = 404

SLOW_POLL_MS = 2000
"""An operation that is to be looked at so rarely takes long enough to be worth a look at how far it is."""


class Progress(Protocol):
    """Is told how far a file is."""

    def hashing(self, source: Source) -> None:
        """Its content is read, to see whether it is known."""

    def sending(self, source: Source, sent: int, size: int) -> None:
        """So many of its bytes were sent."""

    def working(self, source: Source, status: OperationStatus, percent: int | None) -> None:
        """The gateway works on it; `percent` when its provider tells."""

    def unanswered(self, source: Source) -> None:
        """The gateway was asked about it and did not answer; it is asked again."""


class Documents(ReadsOperations, Protocol):
    """What is asked of the gateway about documents."""

    async def upload_document(
        self, space_id: SpaceId, request: DocumentUploadRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        """Make a document of an uploaded file."""

    async def replace_document(
        self, document_id: DocumentId, request: DocumentReplaceRequest, *, key: str | None = None
    ) -> DocumentOperationAccepted:
        """Replace a document's content."""

    async def get_document(self, document_id: DocumentId) -> DocumentDetail:
        """One document."""


class Uploads(Protocol):
    """Where files are sent."""

    async def upload(self, name: str, open_content: OpenContent, *, size: int) -> FileResource:
        """Send a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingestion:
    """What the files of one run have in common."""

    documents: Documents
    uploads: Uploads
    manifest: Manifest
    progress: Progress
    within: timedelta
    """How long one document may take."""
    _first: dict[str, Source] = field(default_factory=dict)
    """The first file of each content in this run."""
    _claims: dict[DocumentId, Source] = field(default_factory=dict)
    """Which file of this run has looked at a document, or replaces it."""

    async def ingest(self, source: Source) -> Outcome:
        """Bring one file in; whatever goes wrong is its outcome's reason."""
        try:
            return await self._ingest(source)
        except KnowgateError as error:
            return _failed(source, explain(error))
        except OSError as error:
            return _failed(source, error.strerror or type(error).__name__)

    async def _ingest(self, source: Source) -> Outcome:
        self.progress.hashing(source)
        sha256 = await sha256_of(source.path)
        if (twin := self._first.setdefault(sha256, source)) is not source:
            return Outcome(source=source, result=Result.SKIPPED, reason=f"same content as {twin.name}")
        if (known := self._mine(source, self.manifest.made_of(sha256))) is not None:
            outcome = await self._look_at_known(source, known)
            if outcome is not None:
                return outcome
        request = self.manifest.unanswered(sha256)
        if request is not None and (acceptance := await self._send_again(request)) is not None:
            return await self._follow(source, acceptance, _result_of(request))
        return await self._send(source, sha256)

    def _mine(self, source: Source, known: Acceptance | None) -> Acceptance | None:
        """The document, unless another file of this run has it: of two files that were swapped, one takes its old
        document and the other one gets a new one.
        """
        if known is None or self._claims.setdefault(known.document_id, source) is not source:
            return None
        return known

    async def _look_at_known(self, source: Source, known: Acceptance) -> Outcome | None:
        """What became of the document of this content; None when it is to be sent (again)."""
        found = await self._latest(source, known)
        if found is None:
            return None
        operation, document = found
        if has_succeeded(operation):
            if known.path != written(source.path):
                self.manifest.note_acceptance(known.model_copy(update={"path": written(source.path)}))
            return Outcome(source=source, result=Result.SKIPPED, reason="already there", document_id=known.document_id)
        if operation.retryable is False:
            return _failed(source, f"{_reason(document)} It failed before, and nothing has changed.")
        return None

    async def _latest(self, source: Source, known: Acceptance) -> tuple[Operation, DocumentDetail] | None:
        """The end of what was last done with a document, and the document; None when it is gone."""
        try:
            operation = await self._wait(source, known.operation_id, known.document_id)
            return operation, await self.documents.get_document(known.document_id)
        except Refused as error:
            if error.answer.status != GONE:
                raise
            self.manifest.forget(known)
            return None

    async def _send(self, source: Source, sha256: str) -> Outcome:
        size = source.path.stat().st_size
        resource = await self.uploads.upload(
            source.path.name,
            lambda: pieces_of(source.path, lambda sent: self.progress.sending(source, sent, size)),
            size=size,
        )
        if resource.sha256 != sha256:
            raise ContentChanged
        known = self.manifest.made_of(sha256) or self.manifest.made_from(written(source.path))
        mine = self._mine(source, known)
        found = None if mine is None else await self._latest(source, mine)
        request = Request(
            path=written(source.path),
            sha256=sha256,
            file_resource_id=resource.file_resource_id,
            name=source.name,
            replaces=None if found is None else found[1].document_id,
            expected_version=None if found is None else found[1].lock_version,
        )
        await self.manifest.note_request(request)
        return await self._follow(source, await self._submit(request), _result_of(request))

    async def _send_again(self, request: Request) -> Acceptance | None:
        """The answer to a request that an earlier run may have sent; None when it can only be made anew."""
        try:
            return await self._submit(request)
        except Refused as error:
            if error.answer.status == GONE or error.code is ErrorCode.DOCUMENT_VERSION_CONFLICT:
                return None
            raise

    async def _submit(self, request: Request) -> Acceptance:
        key = request.key(self.manifest.space_id)
        if request.replaces is None or request.expected_version is None:
            upload = DocumentUploadRequest(file_resource_id=request.file_resource_id, document_name=request.name)
            accepted = await self.documents.upload_document(self.manifest.space_id, upload, key=key)
        else:
            replace = DocumentReplaceRequest(
                file_resource_id=request.file_resource_id, expected_version=request.expected_version
            )
            accepted = await self.documents.replace_document(request.replaces, replace, key=key)
        acceptance = Acceptance(
            path=request.path,
            sha256=request.sha256,
            document_id=accepted.document_id,
            operation_id=accepted.operation_id,
        )
        self.manifest.note_acceptance(acceptance)
        return acceptance

    async def _follow(self, source: Source, acceptance: Acceptance, result: Result) -> Outcome:
        operation = await self._wait(source, acceptance.operation_id, acceptance.document_id)
        if has_succeeded(operation):
            return Outcome(source=source, result=result, document_id=acceptance.document_id)
        document = await self.documents.get_document(acceptance.document_id)
        return _failed(source, _reason(document))

    async def _wait(self, source: Source, operation_id: OperationId, document_id: DocumentId) -> Operation:
        async def seen(operation: Operation) -> None:
            asked = operation.next_poll_after_ms or 0
            is_slow = operation.status is OperationStatus.RUNNING and asked >= SLOW_POLL_MS
            percent = await self._percent(document_id) if is_slow else None
            self.progress.working(source, operation.status, percent)

        waiting = Waiting(within=self.within, seen=seen, missed=lambda _: self.progress.unanswered(source))
        return await waiting.for_operation(self.documents, operation_id)

    async def _percent(self, document_id: DocumentId) -> int | None:
        """How far the provider says that it is."""
        candidate = (await self.documents.get_document(document_id)).candidate_version
        return None if candidate is None else candidate.progress_percent


def _result_of(request: Request) -> Result:
    return Result.READY if request.replaces is None else Result.REPLACED


def _failed(source: Source, reason: str) -> Outcome:
    return Outcome(source=source, result=Result.FAILED, reason=reason)


def _reason(document: DocumentDetail) -> str:
    """Why the latest version of a document did not become its active one."""
    candidate = document.candidate_version
    if candidate is None or candidate.error is None:
        return "It was not taken in."
    return f"{candidate.error.message} [{candidate.error.code}]"
