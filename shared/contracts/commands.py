"""Commands: each asks one worker for one thing and is complete in itself. Large things travel by reference."""

from enum import StrEnum, unique
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from shared.contracts.enums import PurgeReason, Step
from shared.contracts.ids import DocumentId, FileId, OperationId, PurgeId, SpaceId, TenantId, VersionId
from shared.contracts.text import SHA256_HEX
from shared.contracts.wire import Maybe, UtcTime, Wire


@unique
class ProviderKind(StrEnum):
    """Which retrieval provider a space lives in."""

    EMBEDDED = "embedded"
    RAGFLOW = "ragflow"
    SCRIPTED = "scripted"


class ProviderProfile(Wire):
    """How a space is kept by its provider, frozen when the space was made. It holds no secret."""

    kind: ProviderKind
    profile_code: str
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class SourceFile(Wire):
    """The stored bytes of a version: where they lie and what they were when accepted."""

    object_key: str
    size: int = Field(ge=0)
    """Bytes."""
    sha256: str = Field(pattern=SHA256_HEX)
    content_type: str
    file_name: str


class Command(Wire):
    """What every command carries, whatever it asks for."""

    schema_version: Literal[1] = 1
    command_id: str
    tenant_id: TenantId
    issued_at: UtcTime
    deadline_seconds: int = Field(gt=0)
    """How long the worker may work on this step, counted from when it begins."""


class ProviderCommand(Command):
    """A command that has something done at the provider of a space."""

    profile: ProviderProfile
    space_id: SpaceId
    native_space_id: Maybe[str] = None


class SpaceCommand(ProviderCommand):
    """A command of an operation in a space."""

    operation_id: OperationId


class ProvisionSpace(SpaceCommand):
    """Make the provider's side of a space, or find it if it is already there."""

    kind: Literal["ProvisionSpace"] = "ProvisionSpace"


class RemoveSpace(SpaceCommand):
    """Remove the provider's side of a space with all that is in it."""

    kind: Literal["RemoveSpace"] = "RemoveSpace"


class VersionCommand(SpaceCommand):
    """A command about one version of a document."""

    document_id: DocumentId
    version_id: VersionId
    native_document_id: Maybe[str] = None
    source: SourceFile


class UploadVersion(VersionCommand):
    """Bring the version's file to the provider: find it there by name, or create it."""

    kind: Literal["UploadVersion"] = "UploadVersion"


class IngestVersion(VersionCommand):
    """Have the provider parse, embed and index the version, and verify that it can be found."""

    kind: Literal["IngestVersion"] = "IngestVersion"


class ReindexVersion(VersionCommand):
    """Upload and ingest the same file again as a separate provider document."""

    kind: Literal["ReindexVersion"] = "ReindexVersion"


class CancelOperation(VersionCommand):
    """Stop the provider's work on a version and remove what there is of it."""

    kind: Literal["CancelOperation"] = "CancelOperation"
    work_command_id: str
    """The command that is to be stopped."""


class PurgeVersion(ProviderCommand):
    """Remove a version from the provider: exactly `native_document_id`, or all that bear its name when absent."""

    kind: Literal["PurgeVersion"] = "PurgeVersion"
    purge_id: PurgeId
    version_id: VersionId
    native_document_id: Maybe[str] = None
    reason: PurgeReason


class PurgeFile(Command):
    """Delete one object from the object store."""

    kind: Literal["PurgeFile"] = "PurgeFile"
    purge_id: PurgeId
    file_id: FileId
    object_key: str


AnyCommand = (
    ProvisionSpace
    | RemoveSpace
    | UploadVersion
    | IngestVersion
    | ReindexVersion
    | CancelOperation
    | PurgeVersion
    | PurgeFile
)

COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(Annotated[AnyCommand, Field(discriminator="kind")])
"""Reads any command from JSON by its `kind`."""

COMMAND_BY_STEP: dict[Step, type[Command]] = {
    Step.PROVISION: ProvisionSpace,
    Step.REMOVE: RemoveSpace,
    Step.UPLOAD: UploadVersion,
    Step.INGEST: IngestVersion,
    Step.REINDEX: ReindexVersion,
    Step.CANCEL: CancelOperation,
    Step.PURGE: PurgeVersion,
    Step.PURGE_FILE: PurgeFile,
}
"""One command model for each step."""
