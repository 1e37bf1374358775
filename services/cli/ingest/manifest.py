"""What was sent into a space from this machine, so that a second run, or one after a crash, sends nothing twice.

A journal of JSON lines, one file for each space. A request is written down in full before it is sent, its answer
when it has come. After a crash in between the same request is sent again with the same idempotency key, and the
gateway answers what it answered before. The gateway's lists do not tell content hashes, hence a journal of our own.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal, Self

import anyio.to_thread
from pydantic import Field, TypeAdapter, ValidationError

from services.cli.complaints import Complaint
from shared.client.keys import idempotency_key
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId
from shared.contracts.wire import Maybe, Wire


class Request(Wire):
    """A document is to be made of an uploaded file, or its content is to be replaced by that file."""

    kind: Literal["request"] = "request"
    path: str
    sha256: str
    file_resource_id: FileResourceId
    name: str
    replaces: Maybe[DocumentId] = None
    expected_version: Maybe[int] = None

    def key(self, space_id: SpaceId) -> str:
        """The request's idempotency key: the same request, the same key, in every run."""
        return idempotency_key("ingest", space_id, self.path, self.sha256, self.file_resource_id, self.replaces or "")


class Acceptance(Wire):
    """The gateway has accepted a request."""

    kind: Literal["acceptance"] = "acceptance"
    path: str
    sha256: str
    document_id: DocumentId
    operation_id: OperationId


_LINES: TypeAdapter[Request | Acceptance] = TypeAdapter(Annotated[Request | Acceptance, Field(discriminator="kind")])


class Manifest:
    """The journal of one space, open for one run."""

    def __init__(self, file: int, space_id: SpaceId) -> None:
        self.space_id = space_id
        self._file = file
        self._unanswered: dict[str, Request] = {}
        self._latest: dict[DocumentId, Acceptance] = {}
        self._by_content: dict[str, DocumentId] = {}
        self._by_path: dict[str, DocumentId] = {}

    @classmethod
    @contextmanager
    def opened(cls, directory: Path, space_id: SpaceId) -> Iterator[Self]:
        """Read the journal and keep it for this run alone."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(directory / f"{space_id}.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            _take(file, space_id)
            manifest = cls(file, space_id)
            manifest._read()
            yield manifest
        finally:
            os.close(file)

    def made_of(self, sha256: str) -> Acceptance | None:
        """The document that was made of this content and has not been given another one since."""
        document_id = self._by_content.get(sha256)
        return None if document_id is None else self._latest[document_id]

    def made_from(self, path: str) -> Acceptance | None:
        """The document that was last made of the file at this path."""
        document_id = self._by_path.get(path)
        return None if document_id is None else self._latest[document_id]

    def unanswered(self, sha256: str) -> Request | None:
        """A request for this content that was sent, or about to be, and whose answer is not known."""
        return self._unanswered.get(sha256)

    async def note_request(self, request: Request) -> None:
        """Write down what is about to be sent; it outlives even a power cut from here on."""
        self._append(request)
        await anyio.to_thread.run_sync(os.fdatasync, self._file)

    def note_acceptance(self, acceptance: Acceptance) -> None:
        """Write down the answer. One that is lost is asked for again."""
        self._append(acceptance)

    def forget(self, acceptance: Acceptance) -> None:
        """The document is gone from the space. What is written after this speaks of another one."""
        document_id = acceptance.document_id
        self._latest.pop(document_id, None)
        for index in (self._by_content, self._by_path):
            for key in (acceptance.sha256, acceptance.path):
                if index.get(key) == document_id:
                    del index[key]

    def _append(self, line: Request | Acceptance) -> None:
        os.write(self._file, line.to_json() + b"\n")
        self._apply(line)

    def _read(self) -> None:
        with os.fdopen(os.dup(self._file), "rb") as journal:
            journal.seek(0)
            content = journal.read()
        for line in content.splitlines():
            # A line that a crash has cut is no request that was sent.
            with suppress(ValidationError):
                self._apply(_LINES.validate_json(line, by_alias=True, by_name=False))
        if content and not content.endswith(b"\n"):
            os.write(self._file, b"\n")

    def _apply(self, line: Request | Acceptance) -> None:
        match line:
            case Request():
                self._unanswered[line.sha256] = line
            case Acceptance():
                self._unanswered.pop(line.sha256, None)
                if (former := self._latest.get(line.document_id)) is not None:
                    self.forget(former)
                self._latest[line.document_id] = line
                self._by_content[line.sha256] = line.document_id
                self._by_path[line.path] = line.document_id


def _take(file: int, space_id: SpaceId) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Complaint(
            f"Another `knowgate ingest` is working on space {space_id}.", "Wait for it, or stop it."
        ) from None
