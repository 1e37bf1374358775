"""A projector with a real broker and a real database of either kind."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import pytest
from prometheus_client import CollectorRegistry

from services.projector.lease import Lease
from services.projector.main import project_forever
from services.projector.metrics import ProjectorMetrics
from services.projector.reconciling import Eyes
from services.projector.settings import ProjectorSettings
from services.projector.surveying import Survey
from services.projector.term import Parts
from shared.contracts.enums import Step
from shared.database.database import Database
from shared.domain.unfinished import LiveWorkers
from shared.files.store import FileStore
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import SlotBoard
from shared.messaging.connection import Connection
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.streams import declare
from tests.integration.lifecycle.bench import Bench
from tests.integration.projector.answering import Answerer
from tests.integration.projector.yard import WatchedProvider
from tests.support.messaging import connected, messaging_settings
from tests.support.scripted import close_kept, kept

NOBODY_KNOWN = LiveWorkers(is_known=False, slots={}, hands={})
PIPELINE = PipelineSettings(retry_first_wait=timedelta(milliseconds=20), retired_grace=timedelta(0))


@dataclass
class Stage:
    """Everything around a projector, which tests start and stop."""

    database: Database
    connection: Connection
    url: str
    running: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.messaging = messaging_settings(self.url)
        self.publisher = Publisher(self.connection, self.messaging)
        self.answerer = Answerer(self.connection, self.publisher)
        self.bench = Bench(self.database, settings=PIPELINE)
        self.provider = kept(WatchedProvider())
        """What reconciliations look at; the answers to commands come from elsewhere."""

    def project(self, holder: str = "one", **settings: object) -> None:
        """Start a projector."""
        self.registry = CollectorRegistry()
        chosen = ProjectorSettings.model_validate({"recovery_interval": 0.1, "declare_interval": 0.2, **settings})
        parts = Parts(
            settings=chosen,
            database=self.database,
            connection=self.connection,
            publisher=self.publisher,
            reader=EventReader(self.connection, self.messaging),
            board=SlotBoard(),
            around=Surroundings(settings=PIPELINE),
            metrics=ProjectorMetrics(self.registry),
            declare=partial(declare, self.connection.jetstream, self.messaging),
            eyes=Eyes(
                survey=Survey(reads=lambda _: self.provider, store=FileStore.open("memory:///")),
                workers=lambda: NOBODY_KNOWN,
                patience=self.messaging.ack_wait,
            ),
        )
        lease = Lease(self.database, holder, ttl=chosen.lease_ttl, renewal=chosen.lease_renewal)
        self._start(project_forever(parts, lease))

    def answer(self, *steps: Step) -> None:
        """Start to answer commands."""
        self._start(self.answerer.run(*(steps or (Step.PROVISION, Step.UPLOAD, Step.INGEST, Step.PURGE))))

    async def becomes(self, sql: str, rows: list[tuple[object, ...]]) -> None:
        """Wait until a query answers so."""
        async with asyncio.timeout(20):
            while await self.bench.rows(sql) != rows:  # noqa: ASYNC110 - a database tells nobody that it has changed
                await asyncio.sleep(0.02)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        self.running.append(asyncio.create_task(work))

    async def stop(self, *tasks: asyncio.Task[None]) -> None:
        """Cancel and await; an error that a task ended in is raised."""
        stopping = tasks or tuple(self.running)
        for task in stopping:
            task.cancel()
        for ending in await asyncio.gather(*stopping, return_exceptions=True):
            if isinstance(ending, Exception):
                raise ending


@pytest.fixture
async def stage(database: Database, nats_url: str) -> AsyncIterator[Stage]:
    """A stage that is cleared at the end."""
    async with connected(messaging_settings(nats_url)) as connection:
        stage = Stage(database, connection, nats_url)
        yield stage
        await stage.stop()
    close_kept()
