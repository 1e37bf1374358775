"""Requests and events in any order, with events repeated and late ones of commands long answered: all ends legally."""

import asyncio
import random
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.contracts.commands import COMMANDS, AnyCommand, PurgeVersion, VersionCommand
from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    InterruptReason,
    OperationStatus,
    OperationType,
    Step,
    VersionStatus,
)
from shared.contracts.events import AnyEvent, VersionUploaded
from shared.contracts.ids import CommandId, DocumentId, OperationId
from shared.database.database import open_database
from shared.domain.document import HIDDEN
from shared.domain.errors import Rejected
from tests.integration.conftest import sqlite_settings
from tests.integration.lifecycle.bench import Bench, verified

HOUSEKEEPING = {Step.PURGE, Step.PURGE_FILE}
STEPS = 40


@dataclass
class Provider:
    """What a provider holds, by the version that each document is named after."""

    natives: dict[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    made: int = 0

    def find_or_create(self, version: str) -> str:
        if version not in self.natives:
            self.made += 1
            self.natives[version] = f"n-{self.made}"
        return self.natives[version]

    def remove(self, version: str, native: str | None = None) -> None:
        if native is None or self.natives.get(version) == native:
            self.natives.pop(version, None)
            self.done.discard(version)


@dataclass
class World:
    """One document and everything that may happen to it."""

    bench: Bench
    rng: random.Random
    document_id: DocumentId
    provider: Provider = field(default_factory=Provider)
    bodies: dict[str, AnyCommand] = field(default_factory=dict)
    told: list[AnyEvent] = field(default_factory=list)
    ended: dict[str, OperationStatus] = field(default_factory=dict)
    is_deleted: bool = False
    active_at_delete: str | None = None

    async def look(self) -> None:
        """Remember every command there is; the dispatcher may have published it without having noted that yet."""
        for (body,) in await self.bench.rows("SELECT body FROM outbox"):
            command = COMMANDS.validate_json(bytes(body))  # type: ignore[call-overload]
            self.bodies[command.command_id] = command

    async def operations(self) -> list[OperationId]:
        return [OperationId(str(key)) for (key,) in await self.bench.rows("SELECT id FROM operation ORDER BY id")]

    async def ask(self) -> None:
        """One request of a caller; many are refused."""
        document = await self.bench.document(self.document_id)
        requests: list[Callable[[], Awaitable[object]]] = [
            lambda: self.bench.replace(self.document_id, document.lock_version, self.rng.choice("xyz")),
            self.cancel,
            self.retry,
            self.delete if self.rng.random() < 0.5 else self.retry,
        ]
        with suppress(Rejected):
            await self.rng.choice(requests)()

    async def cancel(self) -> None:
        await self.bench.cancel(self.rng.choice((await self.operations())[-2:]))

    async def retry(self) -> None:
        await self.bench.retry(self.rng.choice((await self.operations())[-2:]))

    async def delete(self) -> None:
        document = await self.bench.document(self.document_id)
        await self.bench.delete(self.document_id, document.lock_version)
        self.is_deleted, self.active_at_delete = True, document.active_version_id

    async def note(self) -> None:
        """The dispatcher notes what it has published."""
        await self.bench.publish(*{CommandId.parse(command).owner for command in self.bodies})

    async def wait(self) -> None:
        self.bench.watch.advance(timedelta(minutes=self.rng.choice([1, 11])))
        await self.bench.issue_purges()

    async def hear(self) -> None:
        """A worker reports of a command that is out, or of any that ever was; or an event comes once more."""
        chance = self.rng.random()
        if self.told and chance < 0.15:
            await self.bench.tell(self.rng.choice(self.told))
            return
        commands = sorted(self.bodies) if chance < 0.4 else await self.open_ones()
        if commands:
            await self.report(self.rng.choice(commands), self.rng.choice([*ENDINGS, "well", "well", "well"]))

    async def wear_out(self) -> None:
        """A step fails until there are no automatic retries left."""
        while unfinished := await self.bench.rows(
            "SELECT work_command_id FROM operation WHERE status IN ('PENDING', 'RUNNING') AND work_command_id > ''"
        ):
            await self.look()
            await self.report(str(unfinished[0][0]), "fails")

    async def open_ones(self) -> list[str]:
        return [str(key) for (key,) in await self.bench.rows("SELECT command_id FROM outbox ORDER BY 1")]

    async def report(self, command_id: str, ending: str) -> None:
        event = ENDINGS[ending](self, command_id)
        if event is not None:
            self.told.append(event)
            await self.bench.tell(event)

    async def check(self) -> None:
        """What must hold at every moment."""
        document = await self.bench.document(self.document_id)
        assert self.is_deleted == (document.status in HIDDEN)
        if self.is_deleted:
            assert document.active_version_id == self.active_at_delete
        elif document.active_version_id is not None:
            assert (await self.bench.version(document.active_version_id)).status is VersionStatus.READY
        assert document.candidate_version_id is None or document.candidate_version_id != document.active_version_id
        running = 0
        for operation_id in await self.operations():
            operation = await self.bench.operation(operation_id)
            assert self.ended.get(operation_id, operation.status) is operation.status
            assert (operation.retry_count <= 5, operation.manual_attempt <= 3) == (True, True)
            if operation.is_over:
                self.ended[operation_id] = operation.status
            elif operation.type is not OperationType.DOCUMENT_DELETE:
                running += 1
        assert running <= 1

    async def finish(self) -> None:
        """Workers answer everything that is left, as well as they can."""
        for _ in range(60):
            await self.bench.issue_purges()
            await self.look()
            open_ones = await self.open_ones()
            if not open_ones and not await self.bench.rows("SELECT id FROM purge WHERE status <> 'DONE'"):
                return
            for command_id in open_ones:
                await self.report(command_id, "well")
                await self.check()
            self.bench.watch.advance(timedelta(hours=1))
        raise AssertionError("it never ended")


def version_of(world: World, command_id: str) -> str:
    command = world.bodies[command_id]
    assert isinstance(command, VersionCommand | PurgeVersion)
    return command.version_id


def well(world: World, command_id: str) -> AnyEvent | None:
    """The effect is there."""
    step, command = CommandId.parse(command_id).step, world.bodies[command_id]
    if step in HOUSEKEEPING:
        if isinstance(command, PurgeVersion):
            world.provider.remove(command.version_id, command.native_document_id)
        return world.bench.event(command_id, EventType.PURGED)
    version = version_of(world, command_id)
    if step is Step.CANCEL:
        if version in world.provider.done:
            return world.bench.event(command_id, EventType.TOO_LATE)
        world.provider.remove(version)
        return world.bench.event(command_id, EventType.CANCELLED)
    native = world.provider.find_or_create(version)
    if step is Step.UPLOAD:
        return world.bench.succeeded(command_id, VersionUploaded(native_document_id=native))
    world.provider.done.add(version)
    return world.bench.succeeded(command_id, verified(native))


def fails(world: World, command_id: str) -> AnyEvent:
    """Nobody is told what was there by then."""
    if CommandId.parse(command_id).step in {Step.UPLOAD, Step.INGEST} and world.rng.random() < 0.5:
        world.provider.find_or_create(version_of(world, command_id))
    return world.bench.failed(command_id, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT)


def is_hopeless(world: World, command_id: str) -> AnyEvent | None:
    if CommandId.parse(command_id).step not in {Step.UPLOAD, Step.INGEST}:
        return None
    return world.bench.failed(command_id, FailureReason.NO_TEXT, FailureClass.PERMANENT)


def shuts_down(world: World, command_id: str) -> AnyEvent:
    return world.bench.interrupted(command_id, InterruptReason.SHUTDOWN)


def crashes(world: World, command_id: str) -> AnyEvent:
    return world.bench.interrupted(command_id, InterruptReason.CRASH)


ENDINGS: Mapping[str, Callable[[World, str], AnyEvent | None]] = {
    "well": well,
    "fails": fails,
    "is_hopeless": is_hopeless,
    "shuts_down": shuts_down,
    "crashes": crashes,
}


async def run(template: Path, seed: int) -> None:
    """One life of a document, from its upload to the last purge."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_settings(Path(shutil.copy(template, Path(folder) / "knowgate.db"))))
        try:
            bench = Bench(database)
            accepted = await bench.upload(await bench.active_space())
            assert accepted.work.document is not None
            world = World(bench=bench, rng=rng, document_id=accepted.work.document.id)
            for _ in range(STEPS):
                await world.look()
                if rng.random() < 0.5:
                    await world.note()
                happens = [world.ask, world.hear, world.hear, world.hear, world.wait]
                await (world.wear_out if rng.random() < 0.05 else rng.choice(happens))()
                await world.check()
            await world.finish()
            await require_legal_end(world)
        finally:
            await database.close()


async def require_legal_end(world: World) -> None:
    """Everything has ended, and the provider holds what serves or may be retried, and nothing else."""
    assert set(await world.operations()) == set(world.ended)
    document = await world.bench.document(world.document_id)
    needed = {document.active_version_id, document.candidate_version_id} - {None}
    if world.is_deleted:
        assert document.status is DocumentStatus.DELETED
        needed = set()
    elif document.active_version_id is not None:
        assert document.active_version_id in world.provider.natives
    assert set(world.provider.natives) <= needed


@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_whatever_is_asked_and_told_in_whatever_order_ends_legally(sqlite_template: Path, seed: int) -> None:
    asyncio.run(run(sqlite_template, seed))
