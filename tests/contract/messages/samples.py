"""One sample of every message on the wire, with every field set; a second where absence means something."""

from datetime import UTC, datetime

from shared.contracts.audit_messages import AuditMessage, CheckpointSigned, EntrySealed
from shared.contracts.commands import (
    AnyCommand,
    CancelOperation,
    IngestVersion,
    ProviderKind,
    ProviderProfile,
    ProvisionSpace,
    PurgeFile,
    PurgeVersion,
    ReindexVersion,
    RemoveSpace,
    SourceFile,
    UploadVersion,
)
from shared.contracts.enums import FailureClass, FailureReason, InterruptReason, PurgeReason, ResourceType, Step
from shared.contracts.events import (
    AnyEvent,
    CancelTooLate,
    SpaceProvisioned,
    SpaceRemoved,
    StepCancelled,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepResult,
    StepStarted,
    StepSucceeded,
    TargetPurged,
    VersionIngested,
    VersionUploaded,
)
from shared.contracts.ids import (
    CommandId,
    DocumentId,
    EventId,
    FileId,
    OperationId,
    PurgeId,
    SpaceId,
    TenantId,
    VersionId,
)

NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
TENANT = TenantId("企业.acme*>")
OPERATION = OperationId("op_1")
PURGE = PurgeId("pur_1")
SPACE = SpaceId("spc_1")
DOCUMENT = DocumentId("doc_1")
VERSION = VersionId("ver_1")
PROFILE = ProviderProfile(
    kind=ProviderKind.RAGFLOW, profile_code="enterprise-long-document", settings={"chunkTokens": 512}
)
SOURCE = SourceFile(
    object_key="objects/aa/1", size=3, sha256="a" * 64, content_type="text/plain", file_name="手册 🙂.txt"
)


def command_id(step: Step, owner: str = OPERATION) -> str:
    """The id of a second attempt that was issued a third time."""
    return str(CommandId(owner, step, 2, 3))


def commands() -> dict[str, AnyCommand]:
    """Commands by the name of their sample."""
    return {
        "ProvisionSpace": ProvisionSpace(
            command_id=command_id(Step.PROVISION),
            tenant_id=TENANT,
            issued_at=NOON,
            deadline_seconds=300,
            profile=PROFILE,
            space_id=SPACE,
            operation_id=OPERATION,
        ),
        "RemoveSpace": RemoveSpace(
            command_id=command_id(Step.REMOVE),
            tenant_id=TENANT,
            issued_at=NOON,
            deadline_seconds=300,
            profile=PROFILE,
            space_id=SPACE,
            native_space_id="native-space",
            operation_id=OPERATION,
        ),
        **{kind.__name__: _version_command(kind, step) for kind, step in _VERSION_COMMANDS.items()},
        "CancelOperation": CancelOperation(
            command_id=command_id(Step.CANCEL),
            tenant_id=TENANT,
            issued_at=NOON,
            deadline_seconds=300,
            profile=PROFILE,
            space_id=SPACE,
            native_space_id="native-space",
            operation_id=OPERATION,
            document_id=DOCUMENT,
            version_id=VERSION,
            native_document_id="native-document",
            source=SOURCE,
            work_command_id=command_id(Step.INGEST),
        ),
        "PurgeVersion": PurgeVersion(
            command_id=command_id(Step.PURGE, PURGE),
            tenant_id=TENANT,
            issued_at=NOON,
            deadline_seconds=300,
            profile=PROFILE,
            space_id=SPACE,
            native_space_id="native-space",
            purge_id=PURGE,
            version_id=VERSION,
            reason=PurgeReason.RETIRED,
        ),
        "PurgeFile": PurgeFile(
            command_id=command_id(Step.PURGE_FILE, PURGE),
            tenant_id=TENANT,
            issued_at=NOON,
            deadline_seconds=300,
            purge_id=PURGE,
            file_id=FileId("fil_1"),
            object_key="objects/aa/1",
        ),
    }


_VERSION_COMMANDS: dict[type[UploadVersion] | type[IngestVersion] | type[ReindexVersion], Step] = {
    UploadVersion: Step.UPLOAD,
    IngestVersion: Step.INGEST,
    ReindexVersion: Step.REINDEX,
}


def _version_command(
    kind: type[UploadVersion] | type[IngestVersion] | type[ReindexVersion], step: Step
) -> UploadVersion | IngestVersion | ReindexVersion:
    return kind(
        command_id=command_id(step),
        tenant_id=TENANT,
        issued_at=NOON,
        deadline_seconds=300,
        profile=PROFILE,
        space_id=SPACE,
        native_space_id="native-space",
        operation_id=OPERATION,
        document_id=DOCUMENT,
        version_id=VERSION,
        native_document_id=None if kind is UploadVersion else "native-document",
        source=SOURCE,
    )


RESULTS: dict[str, tuple[Step, StepResult]] = {
    "SpaceProvisioned": (Step.PROVISION, SpaceProvisioned(native_space_id="native-space")),
    "SpaceRemoved": (Step.REMOVE, SpaceRemoved()),
    "VersionUploaded": (Step.UPLOAD, VersionUploaded(native_document_id="native-document")),
    "VersionIngested": (
        Step.INGEST,
        VersionIngested(native_document_id="native-document", done=True, chunk_count=7, probe_found=True),
    ),
}


def events() -> dict[str, AnyEvent]:
    """Events by the name of their sample."""
    told: dict[str, AnyEvent] = {
        "StepStarted": StepStarted.model_validate(_told(Step.INGEST)),
        "StepProgressed": StepProgressed.model_validate({**_told(Step.INGEST), "percent": 40}),
        "StepFailed": StepFailed.model_validate(
            {
                **_told(Step.INGEST),
                "failure_class": FailureClass.THROTTLED,
                "reason": FailureReason.PROVIDER_THROTTLED,
                "text": "The retrieval provider asked to slow down.",
                "retry_after_seconds": 30.0,
            }
        ),
        "StepInterrupted": StepInterrupted.model_validate({**_told(Step.INGEST), "reason": InterruptReason.SHUTDOWN}),
        "StepCancelled": StepCancelled.model_validate(_told(Step.CANCEL)),
        "CancelTooLate": CancelTooLate.model_validate(_told(Step.CANCEL)),
        "TargetPurged": TargetPurged.model_validate(_told(Step.PURGE, PURGE)),
    }
    for name, (step, result) in RESULTS.items():
        told[f"StepSucceeded: {name}"] = StepSucceeded.model_validate({**_told(step), "result": result})
    return told


def _told(step: Step, owner: str = OPERATION) -> dict[str, object]:
    return {
        "event_id": EventId(f"{command_id(step, owner)}.run.1"),
        "command_id": command_id(step, owner),
        "owner_id": owner,
        "step": step,
        "tenant_id": TENANT,
        "occurred_at": NOON,
    }


def audit_messages() -> dict[str, AuditMessage]:
    """What is published of the audit, by the name of its sample; the second entry is nobody's and about nothing."""
    return {
        "EntrySealed": EntrySealed(
            chain=TENANT,
            seq=7,
            entry_id="aud_7",
            tenant_id=TENANT,
            at=NOON,
            actor="api",
            service="agents",
            subject="alice",
            session_id="s-1",
            tool_call_id="call-1",
            request_id="req-1",
            trace_id="0af7651916cd43dd8448eb211c80319c",
            action="DOCUMENT_REPLACE",
            resource_type=ResourceType.DOCUMENT,
            resource_id=DOCUMENT,
            operation_id=OPERATION,
            parent_operation_id="op_0",
            idempotency_digest="d" * 64,
            before="ACTIVE",
            after="ACTIVE",
            outcome="done",
            details={"reason": "手册 🙂", "count": 3, "share": 0.5, "known": True, "nothing": None},
            content_hash="a" * 64,
            prev_hash="b" * 64,
            hash="c" * 64,
        ),
        "EntrySealed: of nobody": EntrySealed(
            chain="system",
            seq=1,
            entry_id="aud_1",
            at=NOON,
            actor="api",
            action="authentication",
            outcome="refused",
            details={},
            content_hash="a" * 64,
            prev_hash="",
            hash="c" * 64,
        ),
        "CheckpointSigned": CheckpointSigned(
            chain=TENANT, seq=7, hash="c" * 64, at=NOON, key_id="0123456789abcdef", signature="c2lnbmVk"
        ),
    }
