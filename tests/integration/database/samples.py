"""Spaces, documents, versions, operations and what belongs to them, as tests need them."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from shared.contracts.commands import ProviderKind, ProviderProfile, SourceFile
from shared.contracts.enums import (
    ChangeType,
    DocumentStatus,
    OperationStatus,
    OperationType,
    PrincipalKind,
    PurgeReason,
    ResourceType,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.ids import (
    CommandId,
    DocumentId,
    FileId,
    OperationId,
    PurgeId,
    SpaceId,
    SubjectId,
    TenantId,
    VersionId,
)
from shared.contracts.metadata import DocumentMetadataOutput
from shared.database.database import Database
from shared.database.documents import insert_documents
from shared.database.grants import Grant, insert_grants
from shared.database.outbox import OutboxCommand
from shared.database.spaces import insert_spaces
from shared.database.sql import run
from shared.database.versions import insert_versions
from shared.domain.authorization import Principal, Reach
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.space import Space
from shared.domain.version import Version

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
TENANT = TenantId("acme")
ALICE = Principal(PrincipalKind.USER, "alice")
EDITORS = Principal(PrincipalKind.GROUP, "editors")
READERS = Principal(PrincipalKind.ROLE, "readers")
SOURCE = SourceFile(
    object_key="a/b", size=3_000_000_000, sha256="0" * 64, content_type="application/pdf", file_name="bericht.pdf"
)
NO_METADATA = DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None)


def after(seconds: float) -> datetime:
    """So many seconds after the tests' time."""
    return NOW + timedelta(seconds=seconds)


def a_space(space_id: str = "spc_1", **changes: Any) -> Space:
    """An ACTIVE space; its code is its id."""
    space = Space(
        id=SpaceId(space_id),
        tenant_id=TENANT,
        code=space_id,
        name="Manuals",
        description=None,
        profile=ProviderProfile(kind=ProviderKind.EMBEDDED, profile_code="standard", settings={"chunk": 400}),
        security_domain="public",
        status=SpaceStatus.ACTIVE,
        lock_version=1,
        native_id=f"native-{space_id}",
        created_by=SubjectId("alice"),
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(space, **changes)


def a_document(document_id: str = "doc_1", space_id: str = "spc_1", **changes: Any) -> Document:
    """An ACTIVE document that serves the version with its own number."""
    document = Document(
        id=DocumentId(document_id),
        tenant_id=TENANT,
        space_id=SpaceId(space_id),
        name=f"{document_id}.pdf",
        status=DocumentStatus.ACTIVE,
        metadata=NO_METADATA,
        lock_version=1,
        active_version_id=VersionId(document_id.replace("doc", "ver")),
        candidate_version_id=None,
        last_version_number=1,
        created_by=SubjectId("alice"),
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(document, **changes)


def a_version(
    version_id: str = "ver_1", document_id: str = "doc_1", space_id: str = "spc_1", **changes: Any
) -> Version:
    """A READY version."""
    version = Version(
        id=VersionId(version_id),
        tenant_id=TENANT,
        space_id=SpaceId(space_id),
        document_id=DocumentId(document_id),
        operation_id=OperationId(version_id.replace("ver", "op")),
        number=1,
        change_type=ChangeType.INITIAL_UPLOAD,
        status=VersionStatus.READY,
        file_id=FileId("fil_1"),
        source=SourceFile(
            object_key="a/b",
            size=3_000_000_000,
            sha256="0" * 64,
            content_type="application/pdf",
            file_name="bericht.pdf",
        ),
        native_document_id=f"native-{version_id}",
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(version, **changes)


def an_operation(operation_id: str = "op_1", document_id: str | None = "doc_1", **changes: Any) -> Operation:
    """A PENDING upload into the first space."""
    operation = Operation(
        id=OperationId(operation_id),
        tenant_id=TENANT,
        type=OperationType.DOCUMENT_UPLOAD,
        status=OperationStatus.PENDING,
        resource_type=ResourceType.DOCUMENT,
        resource_id=document_id or "spc_1",
        space_id=SpaceId("spc_1"),
        document_id=None if document_id is None else DocumentId(document_id),
        version_id=VersionId("ver_1"),
        root_id=OperationId(operation_id),
        work=CommandId(operation_id, Step.UPLOAD, 1, 1),
        created_by=SubjectId("alice"),
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(operation, **changes)


def a_purge(purge_id: str = "pur_1", **changes: Any) -> Purge:
    """A waiting purge of the first version."""
    purge = Purge(
        id=PurgeId(purge_id),
        tenant_id=TENANT,
        step=Step.PURGE,
        reason=PurgeReason.RETIRED,
        status=PurgeStatus.WAITING,
        space_id=SpaceId("spc_1"),
        document_id=DocumentId("doc_1"),
        version_id=VersionId("ver_1"),
        due_at=NOW,
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(purge, **changes)


def a_command(owner_id: str = "op_1", tenant: str = "acme", step: Step = Step.UPLOAD, **changes: Any) -> OutboxCommand:
    """A waiting command that is due."""
    command = OutboxCommand(
        command_id=str(CommandId(owner_id, step, 1, 1)),
        owner_id=owner_id,
        step=step,
        tenant_id=TenantId(tenant),
        subject=f"knowgate.command.{step.value}.{tenant}",
        body=b'{"some": "body"}\x00\xff',
        traceparent=None,
        due_at=NOW,
        created_at=NOW,
    )
    return replace(command, **changes)


def reach_of(*principals: Principal, tenant: str = "acme", domains: tuple[str, ...] = ("public",)) -> Reach:
    """What these principals reach."""
    return Reach(tenant_id=TenantId(tenant), domains=frozenset(domains), principals=frozenset(principals))


def a_grant(principal: Principal = ALICE, space_id: str = "spc_1", document_id: str | None = None) -> Grant:
    """A grant on a space, or on one document of it."""
    return Grant(
        tenant_id=TENANT,
        space_id=SpaceId(space_id),
        document_id=None if document_id is None else DocumentId(document_id),
        principal=principal,
        created_by=SubjectId("root"),
        created_at=NOW,
    )


def together(*steps: Callable[[Connection], object]) -> Callable[[Connection], None]:
    """Work that takes these steps in one transaction."""

    def work(conn: Connection) -> None:
        for step in steps:
            step(conn)

    return work


def store_served(
    conn: Connection, *numbers: int, space: Space | None = None, granted: Principal | None = ALICE
) -> None:
    """A space with documents that serve their versions: spc_1 with doc_7 and ver_7 for the number 7."""
    space = space or a_space()
    insert_spaces(conn, [space])
    if granted is not None:
        insert_grants(conn, [a_grant(granted, space.id)])
    ids = [(f"doc_{number}", f"ver_{number}") for number in numbers]
    insert_documents(conn, [a_document(document_id, space.id) for document_id, _ in ids])
    insert_versions(conn, [a_version(version_id, document_id, space.id) for document_id, version_id in ids])


def wait_for_a_waiter(database: Database) -> None:
    """Return when a session of this PostgreSQL database waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + 10
    while not database.read_blocking(lambda conn: run(conn, waiting).scalar_one()):
        assert time.monotonic() < deadline, "nobody waits"
        time.sleep(0.01)
