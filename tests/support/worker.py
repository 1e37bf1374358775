"""A worker for tests, in this process or as one of its own, with the scripted provider and a folder of files."""

import hashlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from prometheus_client import CollectorRegistry

from services.worker.main import Settings, Worker, assembled
from services.worker.settings import WorkerSettings
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
from shared.contracts.enums import PurgeReason, Step
from shared.contracts.events import TERMINAL_EVENTS, AnyEvent
from shared.contracts.ids import CommandId, DocumentId, FileId, OperationId, PurgeId, SpaceId, TenantId, VersionId
from shared.files.settings import FilesSettings
from shared.messaging.bound_child import BoundChild
from shared.messaging.codec import SCHEMA, Message, Schema, command_message, read_event
from shared.messaging.connection import Connection
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader, ReadingEnded
from shared.messaging.settings import MessagingSettings
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.settings import ProviderSettings
from shared.telemetry.settings import TelemetrySettings
from shared.telemetry.stamps import utc_now
from tests.support.messaging import connected

TENANT = TenantId("acme")
PROFILE = ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="default")
CONTENT = b"The pump is greased every year.\n\nThe valve is closed first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where broker, files and provider of a test are."""

    root: Path
    messaging: MessagingSettings

    @property
    def objects(self) -> Path:
        """The folder of stored files."""
        return self.root / "objects"

    @property
    def scripted(self) -> Path:
        """The file of the scripted provider."""
        return self.root / "scripted.db"

    def settings(self, worker: WorkerSettings | None = None) -> Settings:
        """What a worker in this process is given."""
        return Settings(
            worker=worker or quick_worker(),
            messaging=self.messaging,
            files=FilesSettings(url=self.objects.as_uri()),
            providers=ProviderSettings(kind=ProviderKind.SCRIPTED, scripted_path=self.scripted),
            telemetry=TelemetrySettings(),
        )

    def environment(self) -> dict[str, str]:
        """What a worker of its own process is given."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONWARNINGS": "default",
            "KNOWGATE_NATS_URL": self.messaging.url.get_secret_value(),
            "KNOWGATE_NATS_ACK_WAIT": str(self.messaging.ack_wait.total_seconds()),
            "KNOWGATE_NATS_FETCH_TIMEOUT": str(self.messaging.fetch_timeout.total_seconds()),
            "KNOWGATE_NATS_RECONNECT_WAIT": "0.05",
            "KNOWGATE_FILES_URL": self.objects.as_uri(),
            "KNOWGATE_PROVIDER_KIND": "scripted",
            "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(self.scripted),
            "KNOWGATE_WORKER_STOP_WITHIN": "10",
            "KNOWGATE_WORKER_TELL_AFTER": "0",
        }


def quick_worker() -> WorkerSettings:
    """A worker that looks often and waits little."""
    return WorkerSettings(
        look_every=timedelta(milliseconds=50),
        progress_every=timedelta(0),
        tell_after=timedelta(0),
        verify_within=timedelta(milliseconds=100),
        stop_patience=timedelta(seconds=1),
        stop_within=timedelta(seconds=10),
    )


class Desk:
    """Issues commands and reads what becomes of them."""

    def __init__(self, place: Place, connection: Connection, provider: ScriptedProvider) -> None:
        self.place = place
        self.connection = connection
        self.provider = provider
        self._publisher = Publisher(connection, place.messaging)

    async def issue(self, command: AnyCommand) -> Message:
        """Publish a command as the dispatcher does."""
        step = CommandId.parse(command.command_id).step
        message = command_message(
            command, step=step, source="test", traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01"
        )
        await self._publisher.send(message)
        return message

    async def publish(self, message: Message) -> None:
        """Publish anything."""
        await self._publisher.send(message)

    async def events(self, until: Callable[[Sequence[AnyEvent]], bool]) -> list[AnyEvent]:
        """All events from the beginning, as soon as they fulfil a condition; an interrupted reading is begun anew."""
        while True:
            with suppress(ReadingEnded):
                return await self._read_events(until)

    async def _read_events(self, until: Callable[[Sequence[AnyEvent]], bool]) -> list[AnyEvent]:
        found: list[AnyEvent] = []
        async with aclosing(EventReader(self.connection, self.place.messaging).read(0)) as batches:
            async for batch in batches:
                found += [read_event(message.body, message.headers) for message in batch]
                if until(found):
                    break
        return found

    async def endings(self, number: int = 1) -> list[AnyEvent]:
        """The terminal events, as soon as there are so many."""
        events = await self.events(lambda found: len(_terminal(found)) >= number)
        return _terminal(events)

    async def ending(self) -> AnyEvent:
        """The one terminal event."""
        (event,) = await self.endings()
        return event

    async def commands_left(self) -> int:
        """How many commands are in their stream."""
        return (await self.connection.jetstream.stream_info("KNOWGATE_COMMANDS")).state.messages


def _terminal(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    return [event for event in events if event.type in TERMINAL_EVENTS]


@asynccontextmanager
async def desk_at(place: Place) -> AsyncIterator[Desk]:
    """A desk with a connection of its own; streams are declared, one file is stored."""
    place.objects.mkdir(exist_ok=True)
    store_file(place)
    provider = ScriptedProvider(path=place.scripted)
    try:
        async with connected(place.messaging) as connection:
            yield Desk(place, connection, provider)
    finally:
        await provider.close()


@asynccontextmanager
async def worker_at(
    place: Place, settings: WorkerSettings | None = None, schema: Schema = SCHEMA
) -> AsyncIterator[Worker]:
    """A worker in this process; with another schema, one of another release."""
    async with AsyncExitStack() as stack:
        worker = await stack.enter_async_context(assembled(place.settings(settings), CollectorRegistry(), schema))
        await worker.app.start()
        stack.push_async_callback(worker.app.stop)
        yield worker


@contextmanager
def worker_process(place: Place, log: Path) -> Iterator[BoundChild]:
    """A worker in a process of its own, killed at the end if it still runs."""
    child = BoundChild(
        [sys.executable, "-m", "services.worker.main"],
        output=log,
        directory=Path(__file__).parents[2],
        environment=place.environment(),
    )
    try:
        yield child
    finally:
        child.kill()


def store_file(place: Place, content: bytes = CONTENT, key: str = "objects/1") -> None:
    """Store a file under a key."""
    path = place.objects / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def source(*, key: str = "objects/1", content: bytes = CONTENT, name: str = "pump.txt") -> SourceFile:
    """The stored file as commands name it."""
    return SourceFile(
        object_key=key,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content_type="text/plain",
        file_name=name,
    )


@dataclass(slots=True, kw_only=True)
class Commands:
    """Commands of operation `number`, complete as the projector would build them."""

    number: int = 1
    deadline_seconds: int = 60
    native: str | None = None
    file: SourceFile = field(default_factory=source)
    attempt: int = 1

    def provision(self) -> ProvisionSpace:
        """Make the space."""
        return ProvisionSpace.model_validate(self._space(Step.PROVISION))

    def remove(self) -> RemoveSpace:
        """Remove the space."""
        return RemoveSpace.model_validate(self._space(Step.REMOVE))

    def upload(self) -> UploadVersion:
        """Upload the version."""
        return UploadVersion.model_validate(self._version(Step.UPLOAD))

    def ingest(self) -> IngestVersion:
        """Ingest the version."""
        return IngestVersion.model_validate(self._version(Step.INGEST))

    def reindex(self) -> ReindexVersion:
        """Upload and ingest in one."""
        return ReindexVersion.model_validate(self._version(Step.REINDEX))

    def cancel(self) -> CancelOperation:
        """Cancel the ingest."""
        work = str(CommandId(f"op_{self.number}", Step.INGEST, 1, 1))
        return CancelOperation.model_validate(self._version(Step.CANCEL) | {"work_command_id": work})

    def purge(self) -> PurgeVersion:
        """Remove the version from the provider."""
        command = self._common(Step.PURGE, f"pur_{self.number}") | {
            "profile": PROFILE,
            "space_id": SpaceId("spc_1"),
            "purge_id": PurgeId(f"pur_{self.number}"),
            "version_id": VersionId(f"ver_{self.number}"),
            "native_document_id": self.native,
            "reason": PurgeReason.RETIRED,
        }
        return PurgeVersion.model_validate(command)

    def purge_file(self) -> PurgeFile:
        """Delete the file."""
        command = self._common(Step.PURGE_FILE, f"pur_{self.number}") | {
            "purge_id": PurgeId(f"pur_{self.number}"),
            "file_id": FileId("fil_1"),
            "object_key": self.file.object_key,
        }
        return PurgeFile.model_validate(command)

    def _common(self, step: Step, owner: str) -> dict[str, object]:
        return {
            "command_id": str(CommandId(owner, step, self.attempt, 1)),
            "tenant_id": TENANT,
            "issued_at": utc_now(),
            "deadline_seconds": self.deadline_seconds,
        }

    def _space(self, step: Step) -> dict[str, object]:
        return self._common(step, f"op_{self.number}") | {
            "profile": PROFILE,
            "operation_id": OperationId(f"op_{self.number}"),
            "space_id": SpaceId("spc_1"),
        }

    def _version(self, step: Step) -> dict[str, object]:
        return self._space(step) | {
            "document_id": DocumentId(f"doc_{self.number}"),
            "version_id": VersionId(f"ver_{self.number}"),
            "native_document_id": self.native,
            "source": self.file,
        }
