"""Builds commands from the state they are about, complete in themselves, and their outbox rows."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from shared.contracts.catalogue import command_subject
from shared.contracts.commands import (
    AnyCommand,
    CancelOperation,
    IngestVersion,
    ProvisionSpace,
    PurgeFile,
    PurgeVersion,
    ReindexVersion,
    RemoveSpace,
    UploadVersion,
)
from shared.contracts.enums import Step
from shared.contracts.ids import CommandId, VersionId
from shared.database.files import StoredFile
from shared.database.outbox import OutboxCommand
from shared.domain.purge import Purge
from shared.domain.space import Space
from shared.domain.transitions import IllegalMove
from shared.domain.work import Work

_VERSION_COMMANDS: dict[Step, type[UploadVersion] | type[IngestVersion] | type[ReindexVersion]] = {
    Step.UPLOAD: UploadVersion,
    Step.INGEST: IngestVersion,
    Step.REINDEX: ReindexVersion,
}

_VersionCommand = UploadVersion | IngestVersion | ReindexVersion | CancelOperation

_SPACE_COMMANDS: dict[Step, type[ProvisionSpace] | type[RemoveSpace]] = {
    Step.PROVISION: ProvisionSpace,
    Step.REMOVE: RemoveSpace,
}


def build_command(work: Work, command: CommandId, *, now: datetime, deadline: timedelta) -> AnyCommand:
    """The command of an operation, with everything a worker needs to run it."""
    if command.step in _SPACE_COMMANDS:
        return _SPACE_COMMANDS[command.step](
            command_id=str(command),
            tenant_id=work.space.tenant_id,
            issued_at=now,
            deadline_seconds=_seconds(deadline),
            profile=work.space.profile,
            operation_id=work.operation.id,
            space_id=work.space.id,
            native_space_id=work.space.native_id,
        )
    _, version = work.candidate()
    return _version_command(work, command.step)(
        command_id=str(command),
        tenant_id=work.space.tenant_id,
        issued_at=now,
        deadline_seconds=_seconds(deadline),
        profile=work.space.profile,
        operation_id=work.operation.id,
        space_id=work.space.id,
        native_space_id=work.space.native_id,
        document_id=version.document_id,
        version_id=version.id,
        native_document_id=version.native_document_id,
        source=version.source,
    )


def _version_command(work: Work, step: Step) -> Callable[..., _VersionCommand]:
    """What makes the step's command. A cancel also names the command that is to be stopped."""
    if step is not Step.CANCEL:
        return _VERSION_COMMANDS[step]
    if work.operation.work is None:
        raise IllegalMove(f"operation {work.operation.id} has no command to cancel")
    return partial(CancelOperation, work_command_id=str(work.operation.work))


def build_purge(
    purge: Purge, version_id: VersionId, space: Space, *, now: datetime, deadline: timedelta
) -> PurgeVersion:
    """The command that removes a version from the provider."""
    return PurgeVersion(
        command_id=str(purge.command),
        tenant_id=purge.tenant_id,
        issued_at=now,
        deadline_seconds=_seconds(deadline),
        profile=space.profile,
        purge_id=purge.id,
        space_id=space.id,
        native_space_id=space.native_id,
        version_id=version_id,
        native_document_id=purge.native_document_id,
        reason=purge.reason,
    )


def build_file_purge(purge: Purge, file: StoredFile, *, now: datetime, deadline: timedelta) -> PurgeFile:
    """The command that deletes an object from the object store."""
    return PurgeFile(
        command_id=str(purge.command),
        tenant_id=purge.tenant_id,
        issued_at=now,
        deadline_seconds=_seconds(deadline),
        purge_id=purge.id,
        file_id=file.id,
        object_key=file.object_key,
    )


def outbox_row(
    command: AnyCommand,
    *,
    traceparent: str | None,
    due_at: datetime,
    now: datetime,
    published: bool = False,
) -> OutboxCommand:
    """The row that keeps a command until a terminal event answers it.

    `published` True: the sender publishes it itself as soon as the transaction has committed.
    """
    parsed = CommandId.parse(command.command_id)
    return OutboxCommand(
        command_id=command.command_id,
        owner_id=parsed.owner,
        step=parsed.step,
        tenant_id=command.tenant_id,
        subject=command_subject(parsed.step, command.tenant_id),
        body=command.to_json(),
        traceparent=traceparent,
        due_at=due_at,
        created_at=now,
        published_at=now if published else None,
    )


def _seconds(duration: timedelta) -> int:
    return max(1, round(duration.total_seconds()))
