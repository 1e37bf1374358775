"""Does what was taken on: runs every open command against a provider and applies the event, without a broker."""

from sqlalchemy import Connection

from shared.contracts.commands import (
    COMMANDS,
    AnyCommand,
    IngestVersion,
    ProviderCommand,
    ProvisionSpace,
    ReindexVersion,
    RemoveSpace,
    UploadVersion,
    VersionCommand,
)
from shared.contracts.events import (
    AnyEvent,
    SpaceProvisioned,
    SpaceRemoved,
    StepFailed,
    StepResult,
    StepSucceeded,
    VersionIngested,
    VersionUploaded,
)
from shared.contracts.ids import CommandId
from shared.database.database import Database
from shared.domain.errors import ContentRejected
from shared.domain.failure import FAILURES
from shared.lifecycle.apply_events import ReceivedEvent, apply_events
from shared.lifecycle.surroundings import Surroundings
from shared.providers.ports import SpaceRef, VersionRef
from shared.providers.scripted.provider import ScriptedProvider
from tests.integration.api.purging import told_of

MOST_ROUNDS = 20
WORK = ("provision", "remove", "upload", "ingest", "reindex")


async def run_commands(database: Database, provider: ScriptedProvider, around: Surroundings) -> None:
    """Run commands until none of them is left but purges."""
    for _ in range(MOST_ROUNDS):
        bodies = await database.read(_open_commands)
        if not bodies:
            return
        for body in bodies:
            event = await _run(COMMANDS.validate_json(body), provider, around)
            received = [ReceivedEvent(event)]
            await database.write(lambda conn, received=received: apply_events(conn, received, around))  # type: ignore[misc]
    raise AssertionError("commands never ended")


def _open_commands(conn: Connection) -> list[bytes]:
    steps = ", ".join(f"'{step}'" for step in WORK)
    text = f"SELECT body FROM outbox WHERE step IN ({steps}) ORDER BY created_at, command_id"  # noqa: S608
    return [bytes(row[0]) for row in conn.exec_driver_sql(text)]


async def _run(command: AnyCommand, provider: ScriptedProvider, around: Surroundings) -> AnyEvent:
    parsed = CommandId.parse(command.command_id)
    told = told_of(parsed, command.tenant_id, around)
    try:
        return StepSucceeded.model_validate({**told, "result": await _effect(command, provider)})
    except ContentRejected as rejected:
        meaning = FAILURES[rejected.reason]
        failure = {"failure_class": meaning.failure_class, "reason": rejected.reason, "text": meaning.text}
        return StepFailed.model_validate({**told, **failure})


async def _effect(command: AnyCommand, provider: ScriptedProvider) -> StepResult:
    match command:
        case ProvisionSpace():
            return SpaceProvisioned(native_space_id=await provider.provision(_space(command)))
        case RemoveSpace():
            await provider.remove_space(_space(command))
            return SpaceRemoved()
        case UploadVersion():
            return VersionUploaded(native_document_id=await provider.upload(_version(command)))
        case IngestVersion(native_document_id=str(native_id)):
            return await _ingested(_version(command), native_id, provider)
        case ReindexVersion():
            version = _version(command)
            return await _ingested(version, await provider.upload(version), provider)
        case _:
            raise AssertionError(f"no test runs {type(command).__name__}")


async def _ingested(version: VersionRef, native_id: str, provider: ScriptedProvider) -> VersionIngested:
    await provider.start_ingest(version, native_id)
    found = await provider.find(version)
    assert found is not None
    probed = await provider.probe(version, native_id)
    return VersionIngested(native_document_id=native_id, done=True, chunk_count=found.chunk_count, probe_found=probed)


def _space(command: ProviderCommand) -> SpaceRef:
    return SpaceRef(space_id=command.space_id, profile=command.profile, native_id=command.native_space_id)


def _version(command: VersionCommand) -> VersionRef:
    return VersionRef(
        space=_space(command),
        version_id=command.version_id,
        source=command.source,
        native_id=command.native_document_id,
    )
