"""Everything between an accepted operation and its end, in one process: broker, projector, worker, provider."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from prometheus_client import CollectorRegistry

from services.projector.lease import Lease
from services.projector.main import project_forever
from services.projector.metrics import ProjectorMetrics
from services.projector.reconciling import Eyes
from services.projector.settings import ProjectorSettings
from services.projector.surveying import Survey
from services.projector.term import Parts
from services.worker.settings import WorkerSettings
from shared.contracts.content_types import ContentType
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId
from shared.database.database import Database
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.unfinished import LiveWorkers
from shared.domain.version import Version
from shared.files.intake import ReceivedFile
from shared.files.store import FileStore
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.store_file import store_file as keep_file
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import SlotBoard
from shared.messaging.codec import SCHEMA, Schema
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.streams import declare
from shared.providers.scripted.provider import ScriptedProvider
from shared.telemetry.stamps import utc_now
from tests.integration.lifecycle.bench import Bench, Watch
from tests.support.worker import CONTENT, Desk, Place, desk_at, store_file, worker_at

QUICK = PipelineSettings(retry_first_wait=timedelta(milliseconds=20), retired_grace=timedelta(0))
"""Retries that come at once, and purges without grace."""
ENDS_WITHIN = timedelta(seconds=60)
FILE_KEPT = timedelta(hours=24)
NOBODY_KNOWN = LiveWorkers(is_known=False, slots={}, hands={})


@dataclass
class Works:
    """Takes work on and waits for what becomes of it."""

    desk: Desk
    bench: Bench
    numbers: list[int] = field(default_factory=lambda: [0])

    @property
    def provider(self) -> ScriptedProvider:
        """The provider that the worker works with, through the same file."""
        return self.desk.provider

    async def space(self, code: str = "manuals") -> SpaceId:
        """A space that is ACTIVE."""
        accepted = await self.bench.create_space(code)
        await self.ended(accepted.work.operation.id)
        return accepted.work.space.id

    async def file(self, name: str = "pump.txt", content: bytes = CONTENT) -> FileResourceId:
        """A file of its own in the object store."""
        self.numbers[0] += 1
        content += b"\n\nCopy %d." % self.numbers[0]
        received = ReceivedFile(
            key=f"objects/00/{self.numbers[0]}",
            name=name,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            content_type=ContentType.TEXT,
        )
        store_file(self.desk.place, content, received.key)
        stored = await self.bench.write(
            lambda conn: keep_file(conn, received, FILE_KEPT, self.bench.request(), self.bench.around)
        )
        return stored.resource.id

    async def upload(self, space_id: SpaceId, name: str = "pump.txt") -> Accepted:
        """Take on a document."""
        return await self.bench.upload_resource(space_id, await self.file(name))

    async def uploaded(self, space_id: SpaceId, name: str = "pump.txt") -> DocumentId:
        """A document that has gone all the way to ACTIVE."""
        accepted = await self.upload(space_id, name)
        operation = await self.ended(accepted.work.operation.id)
        assert operation.status.value == "SUCCEEDED", operation
        return document_of(accepted).id

    async def ended(self, operation_id: OperationId) -> Operation:
        """The operation once it has ended."""
        return await self.operation_when(operation_id, lambda operation: operation.is_over)

    async def operation_when(self, operation_id: OperationId, holds: Callable[[Operation], bool]) -> Operation:
        """The operation as soon as something holds of it."""
        async with asyncio.timeout(ENDS_WITHIN.total_seconds()):
            while not holds(operation := await self.bench.operation(operation_id)):  # noqa: ASYNC110 - as below
                await asyncio.sleep(0.02)
        return operation

    async def becomes(self, sql: str, *rows: tuple[object, ...]) -> None:
        """Wait until a query answers so."""
        async with asyncio.timeout(ENDS_WITHIN.total_seconds()):
            while await self.bench.rows(sql) != list(rows):  # noqa: ASYNC110 - a database tells nobody that it has changed
                await asyncio.sleep(0.02)

    async def at_rest(self) -> None:
        """Return when no command is open and none is in the stream."""
        await self.becomes("SELECT count(*) FROM outbox", (0,))
        async with asyncio.timeout(ENDS_WITHIN.total_seconds()):
            while await self.desk.commands_left():  # noqa: ASYNC110 - the broker tells nobody that a stream is empty
                await asyncio.sleep(0.02)

    async def version_of(self, accepted: Accepted) -> Version:
        """The version that was taken on, as it is now."""
        version = accepted.work.version
        assert version is not None
        return await self.bench.version(version.id)

    def documents_at_provider(self, accepted: Accepted) -> list[str]:
        """The native ids of what the provider has under the version's name."""
        version = accepted.work.version
        assert version is not None
        found = self.provider._store.by_prefix(accepted.work.space.id, version.id)
        return [document.native_id for document in found]


def document_of(accepted: Accepted) -> Document:
    """The document that work is about."""
    assert accepted.work.document is not None
    return accepted.work.document


@asynccontextmanager
async def works_at(
    place: Place,
    database: Database,
    pipeline: PipelineSettings = QUICK,
    worker: WorkerSettings | None = None,
) -> AsyncIterator[Works]:
    """A projector and a worker at work."""
    async with desk_at(place) as desk, worker_at(place, worker), projector_at(desk, database, pipeline):
        yield Works(desk, Bench(database, watch=Watch(utc_now()), settings=pipeline))


@asynccontextmanager
async def projector_at(
    desk: Desk,
    database: Database,
    pipeline: PipelineSettings = QUICK,
    *,
    holder: str = "one",
    schema: Schema = SCHEMA,
) -> AsyncIterator[None]:
    """A projector in this process, which is stopped in good order; an error in which it ended is raised.

    With another schema it is one of another release.
    """
    settings = ProjectorSettings(recovery_interval=timedelta(milliseconds=200))
    messaging, connection = desk.place.messaging, desk.connection
    parts = Parts(
        settings=settings,
        database=database,
        connection=connection,
        publisher=Publisher(connection, messaging),
        reader=EventReader(connection, messaging),
        board=SlotBoard(),
        around=Surroundings(settings=pipeline),
        metrics=ProjectorMetrics(CollectorRegistry()),
        declare=partial(declare, connection.jetstream, messaging),
        eyes=Eyes(
            survey=Survey(reads=lambda _: desk.provider, store=FileStore.open(desk.place.objects.as_uri())),
            workers=lambda: NOBODY_KNOWN,
            patience=messaging.ack_wait,
        ),
        schema=schema,
    )
    lease = Lease(database, holder, ttl=settings.lease_ttl, renewal=settings.lease_renewal)
    projecting = asyncio.create_task(project_forever(parts, lease))
    try:
        yield
    finally:
        projecting.cancel()
        (ending,) = await asyncio.gather(projecting, return_exceptions=True)
    if isinstance(ending, Exception):
        raise ending
