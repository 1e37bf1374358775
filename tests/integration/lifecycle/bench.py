"""Drives the moves of state the way api and workers do, one call at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeVar

from sqlalchemy import Connection

from shared.contracts.commands import ProviderKind, ProviderProfile
from shared.contracts.content_types import ContentType
from shared.contracts.documents import DocumentDeleteRequest, DocumentReplaceRequest, DocumentUploadRequest
from shared.contracts.enums import EventType, FailureClass, FailureReason, InterruptReason, Step
from shared.contracts.events import (
    EVENTS,
    AnyEvent,
    SpaceProvisioned,
    StepResult,
    VersionIngested,
    VersionUploaded,
)
from shared.contracts.ids import CommandId, DocumentId, FileResourceId, OperationId, SpaceId, SubjectId, TenantId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.spaces import SpaceCreateRequest
from shared.database.database import Database
from shared.database.documents import load_documents
from shared.database.operations import load_operations
from shared.database.outbox import Publication, find_commands, mark_published
from shared.database.versions import load_versions
from shared.domain.authorization import DEFAULT_ROLES
from shared.domain.document import Document
from shared.domain.identity import Caller
from shared.domain.operation import Operation
from shared.domain.version import Version
from shared.files.intake import ReceivedFile
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.apply_events import Applied, ReceivedEvent, apply_events
from shared.lifecycle.cancel_operation import cancel_operation
from shared.lifecycle.create_space import create_space
from shared.lifecycle.delete_document import Deleting, delete_document
from shared.lifecycle.purges import issue_purges
from shared.lifecycle.replace_document import replace_document
from shared.lifecycle.request import Request
from shared.lifecycle.retry_operation import retry_operation
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.store_file import StoredResource, store_file
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.upload_document import upload_document

T = TypeVar("T")

ANA = Caller(
    tenant=TenantId("acme"),
    subject=SubjectId("ana"),
    roles=("knowledge-admin",),
    domains=("internal",),
    session_id="s-1",
    service="agents",
)


@dataclass
class Watch:
    """A clock that stands still until it is moved."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, duration: timedelta) -> None:
        self.now += duration


@dataclass
class Bench:
    """Moves on one database."""

    database: Database
    watch: Watch = field(default_factory=Watch)
    settings: PipelineSettings = field(default_factory=PipelineSettings)
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def around(self) -> Surroundings:
        return Surroundings(
            settings=self.settings,
            clock=self.watch,
            new_id=lambda prefix: f"{prefix}_{next(self.numbers):06}",
            chance=lambda: 0.5,
        )

    def request(self, caller: Caller = ANA) -> Request:
        return Request(
            caller=caller,
            roles=DEFAULT_ROLES,
            traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
            request_id="r-1",
            tool_call_id="t-1",
        )

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def create_space(self, code: str = "manuals", caller: Caller = ANA) -> Accepted:
        body = SpaceCreateRequest(
            code=code,
            name="Manuals",
            profile_code="enterprise-long-document",
            default_security_domain_code="internal",
        )
        profile = ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="enterprise-long-document")
        return await self.write(lambda conn: create_space(conn, body, profile, self.request(caller), self.around))

    async def active_space(self, code: str = "manuals") -> SpaceId:
        accepted = await self.create_space(code)
        await self.tell(self.succeeded(accepted.command.command_id, SpaceProvisioned(native_space_id="native")))
        return accepted.work.space.id

    async def file(self, content: str = "a", caller: Caller = ANA) -> StoredResource:
        number = next(self.numbers)
        received = ReceivedFile(
            key=f"objects/00/{number}",
            name="a.txt",
            size=len(content),
            sha256=content.encode().hex().ljust(64, "0")[:64],
            content_type=ContentType.TEXT,
        )
        return await self.write(
            lambda conn: store_file(conn, received, timedelta(hours=24), self.request(caller), self.around)
        )

    async def upload(self, space_id: SpaceId, content: str = "a", caller: Caller = ANA) -> Accepted:
        resource = (await self.file(content, caller)).resource
        return await self.upload_resource(space_id, resource.id, caller)

    async def upload_resource(self, space_id: SpaceId, resource: FileResourceId, caller: Caller = ANA) -> Accepted:
        body = DocumentUploadRequest(file_resource_id=resource, document_name="Manual")
        return await self.write(lambda conn: upload_document(conn, space_id, body, self.request(caller), self.around))

    async def replace(self, document_id: DocumentId, expected: int, content: str = "b") -> Accepted:
        resource = (await self.file(content)).resource
        return await self.replace_with(document_id, expected, resource.id)

    async def replace_with(self, document_id: DocumentId, expected: int, resource: FileResourceId) -> Accepted:
        body = DocumentReplaceRequest(file_resource_id=resource, expected_version=expected)
        return await self.write(lambda conn: replace_document(conn, document_id, body, self.request(), self.around))

    async def delete(self, document_id: DocumentId, expected: int, caller: Caller = ANA) -> Deleting:
        body = DocumentDeleteRequest(expected_version=expected, reason="It is out of date.")
        return await self.write(
            lambda conn: delete_document(conn, document_id, body, self.request(caller), self.around)
        )

    async def cancel(self, operation_id: OperationId, caller: Caller = ANA) -> Operation:
        body = OperationReasonRequest(reason="It was the wrong file.")
        settled = await self.write(
            lambda conn: cancel_operation(conn, operation_id, body, self.request(caller), self.around)
        )
        return settled.operation

    async def retry(self, operation_id: OperationId, caller: Caller = ANA) -> Accepted:
        body = OperationReasonRequest(reason="The provider is back.")
        return await self.write(
            lambda conn: retry_operation(conn, operation_id, body, self.request(caller), self.around)
        )

    async def publish(self, *owners: str) -> None:
        """Note the commands of these operations or purges as published, as the dispatcher does."""

        def note(conn: Connection) -> None:
            rows = [row for row in find_commands(conn, owners) if row.published_at is None]
            mark_published(
                conn,
                [
                    Publication(
                        command_id=row.command_id,
                        publication=row.publication,
                        sequence=1,
                        stream_created="s",
                        published_at=self.watch.now,
                    )
                    for row in rows
                ],
            )

        await self.write(note)

    async def commands(self, owner: str) -> list[str]:
        """The open commands of an operation or purge."""
        rows = await self.database.read(lambda conn: find_commands(conn, {owner}))
        return sorted(row.command_id for row in rows)

    async def issue_purges(self) -> list[str]:
        """Issue what is due; the commands of all purges that are out."""
        await self.write(lambda conn: issue_purges(conn, self.around, limit=100))
        rows = await self.rows("SELECT command_id FROM outbox WHERE step IN ('purge', 'purge-file') ORDER BY 1")
        return [str(command) for (command,) in rows]

    async def purge_all(self) -> None:
        """Issue and answer purges until none is due any more."""
        while commands := await self.issue_purges():
            await self.tell(*(self.event(command, EventType.PURGED) for command in commands))

    async def ingested(self, space_id: SpaceId, content: str = "a") -> DocumentId:
        """A document that has gone all the way to ACTIVE."""
        accepted = await self.upload(space_id, content)
        await self.finish(accepted.work.operation.id)
        assert accepted.work.document is not None
        return accepted.work.document.id

    async def finish(self, operation_id: OperationId) -> None:
        """Answer every command of an operation with success until it is over."""
        while (work := (await self.operation(operation_id)).work) is not None:
            native = f"native-{operation_id}"
            await self.tell(
                self.succeeded(str(work), VersionUploaded(native_document_id=native))
                if work.step is Step.UPLOAD
                else self.succeeded(str(work), verified(native))
            )

    async def tell(self, *events: AnyEvent) -> Applied:
        return await self.write(lambda conn: apply_events(conn, [ReceivedEvent(e) for e in events], self.around))

    def event(self, command_id: str, kind: EventType, run: str = "r", **more: object) -> AnyEvent:
        command = CommandId.parse(command_id)
        return EVENTS.validate_python(
            {
                "event_id": command.event(f"{run}{next(self.numbers)}", 1),
                "command_id": command_id,
                "owner_id": command.owner,
                "step": command.step,
                "tenant_id": "acme",
                "occurred_at": self.watch.now,
                "type": kind,
                **more,
            }
        )

    def succeeded(self, command_id: str, result: StepResult) -> AnyEvent:
        return self.event(command_id, EventType.SUCCEEDED, result=result)

    def failed(self, command_id: str, reason: FailureReason, failure_class: FailureClass) -> AnyEvent:
        return self.event(command_id, EventType.FAILED, reason=reason, failure_class=failure_class, text="No.")

    def interrupted(self, command_id: str, reason: InterruptReason) -> AnyEvent:
        return self.event(command_id, EventType.INTERRUPTED, reason=reason)

    async def operation(self, operation_id: OperationId) -> Operation:
        return (await self.database.read(lambda conn: load_operations(conn, {operation_id})))[operation_id]

    async def document(self, document_id: DocumentId) -> Document:
        return (await self.database.read(lambda conn: load_documents(conn, {document_id})))[document_id]

    async def version(self, version_id: str) -> Version:
        return (await self.database.read(lambda conn: load_versions(conn, {version_id})))[version_id]

    async def rows(self, sql: str) -> list[tuple[object, ...]]:
        return await self.database.read(lambda conn: [tuple(row) for row in conn.exec_driver_sql(sql).all()])


def verified(native: str) -> VersionIngested:
    """A result that may become active."""
    return VersionIngested(native_document_id=native, done=True, chunk_count=3, probe_found=True)


def as_caller(name: str, **changes: object) -> Caller:
    """Another caller of the same tenant."""
    return replace(ANA, subject=SubjectId(name), **changes)  # type: ignore[arg-type]
