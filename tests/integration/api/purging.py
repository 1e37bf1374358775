"""Removes what is due to go: runs every purge against provider and object store and applies the event."""

from shared.contracts.commands import COMMANDS, PurgeFile, PurgeVersion
from shared.contracts.events import StepCancelled, TargetPurged
from shared.contracts.ids import CommandId
from shared.database.database import Database
from shared.files.store import FileStore
from shared.lifecycle.apply_events import ReceivedEvent, apply_events
from shared.lifecycle.purges import issue_purges
from shared.lifecycle.surroundings import Surroundings
from shared.providers.ports import SpaceRef
from shared.providers.scripted.provider import ScriptedProvider

MOST_ROUNDS = 20


async def run_purges(database: Database, provider: ScriptedProvider, store: FileStore, around: Surroundings) -> None:
    """Purge until nothing is due any more."""
    for _ in range(MOST_ROUNDS):
        await database.write(lambda conn: issue_purges(conn, around, limit=100))
        bodies = await database.read(
            lambda conn: list(conn.exec_driver_sql("SELECT body FROM outbox WHERE step IN ('purge', 'purge-file')"))
        )
        if not bodies:
            return
        for (body,) in bodies:
            command = COMMANDS.validate_json(bytes(body))
            if isinstance(command, PurgeFile):
                await store.delete(command.object_key)
            elif isinstance(command, PurgeVersion):
                space = SpaceRef(space_id=command.space_id, profile=command.profile, native_id=command.native_space_id)
                await provider.remove(space, native_id=command.native_document_id, name_prefix=command.version_id)
            parsed = CommandId.parse(command.command_id)
            event = TargetPurged.model_validate(told_of(parsed, command.tenant_id, around))
            await database.write(lambda conn, event=event: apply_events(conn, [ReceivedEvent(event)], around))  # type: ignore[misc]
    raise AssertionError("purges never ended")


async def confirm_cancel(database: Database, operation_id: str, around: Surroundings) -> None:
    """What a worker answers to the cancel command of an operation and to the command that it stops."""
    for step in ("cancel", "upload"):
        parsed = CommandId.parse(f"{operation_id}.{step}.1.1")
        event = StepCancelled.model_validate(told_of(parsed, "acme", around))
        await database.write(lambda conn, event=event: apply_events(conn, [ReceivedEvent(event)], around))  # type: ignore[misc]


def told_of(command: CommandId, tenant_id: str, around: Surroundings) -> dict[str, object]:
    """What every event of a command tells."""
    return {
        "event_id": command.event("run", 1),
        "command_id": str(command),
        "owner_id": command.owner,
        "step": command.step,
        "tenant_id": tenant_id,
        "occurred_at": around.clock(),
    }
