"""The worker process: the only place where its parts are made and joined."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

import structlog
from faststream import FastStream
from faststream.nats import NatsBroker
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from prometheus_client import CollectorRegistry

from services.worker.announcing import announce, new_worker_id
from services.worker.cancelled import CancelledOperations
from services.worker.consumers import subscribe
from services.worker.delivery import JetStreamDelivery
from services.worker.handling import Handler
from services.worker.hands import Hands
from services.worker.heartbeat import Heartbeat
from services.worker.metrics import WorkerMetrics
from services.worker.settings import WorkerSettings
from services.worker.steps.tools import Pace
from services.worker.workshop import Workshop
from shared.contracts.catalogue import WorkerSlots
from shared.contracts.enums import Step
from shared.contracts.ids import OperationId
from shared.domain.errors import KnowgateError
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.messaging.cancellations import Cancellations
from shared.messaging.codec import SCHEMA, Schema
from shared.messaging.connection import Connection, connection_of, make_broker
from shared.messaging.publisher import Publisher
from shared.messaging.settings import MessagingSettings
from shared.messaging.slot_pull import pull_one_at_a_time
from shared.messaging.streams import declare
from shared.messaging.watchdog import Activity, Watchdog
from shared.providers.factory import Providers
from shared.providers.settings import ProviderSettings
from shared.telemetry.logging import configure_logging
from shared.telemetry.metrics import new_registry, serve_metrics
from shared.telemetry.settings import TelemetrySettings
from shared.telemetry.stamps import utc_now

log = structlog.get_logger()

SERVICE = "worker"
MISCONFIGURED = 78
"""Exit code of a process that cannot work as it is set up (EX_CONFIG)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a worker reads from its environment."""

    worker: WorkerSettings = field(default_factory=WorkerSettings)
    messaging: MessagingSettings = field(default_factory=MessagingSettings)
    files: FilesSettings = field(default_factory=FilesSettings)
    providers: ProviderSettings = field(default_factory=ProviderSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker whose parts are joined and which is connected; it takes its first command when `app` starts."""

    app: FastStream
    connection: Connection
    stop: asyncio.Event
    """Set when the process should stop."""


def run() -> None:
    """Serve until a signal asks to stop."""
    settings = Settings()
    configure_logging(settings.telemetry, service=SERVICE)
    try:
        asyncio.run(serve(settings))
    except KnowgateError as error:
        log.critical("worker.start.refused", error=error.message)
        sys.exit(MISCONFIGURED)


async def serve(settings: Settings) -> None:
    """Assemble a worker and run it with its metrics."""
    registry = new_registry()
    async with assembled(settings, registry) as worker:
        with _metrics(settings.telemetry, registry, worker.connection):
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, worker.stop.set)
            await worker.app.start()
            log.info("worker.started", slots=settings.worker.slots)
            await worker.stop.wait()
            await _stop(worker.app)
    log.info("worker.stopped")


async def _stop(app: FastStream) -> None:
    """A broker that is away cannot be told goodbye; what was not handed back comes again by itself."""
    try:
        await app.stop()
    except* (NatsError, OSError, TimeoutError) as errors:
        log.warning("worker.stop.without_broker", errors=[repr(error) for error in errors.exceptions])


@asynccontextmanager
async def assembled(settings: Settings, registry: CollectorRegistry, schema: Schema = SCHEMA) -> AsyncIterator[Worker]:
    """Open everything a worker needs, and close it in the opposite order."""
    async with AsyncExitStack() as stack:
        broker, connection = await _open_broker(settings, stack)
        hands, activity = Hands(), Activity(settings.worker.slots)
        heartbeat = Heartbeat(connection.flush, ack_wait=settings.messaging.ack_wait)
        handler = Handler(
            workshop=_workshop(settings, stack, await _listen_for_cancels(connection, hands)),
            publisher=Publisher(connection, settings.messaging),
            heartbeat=heartbeat,
            hands=hands,
            activity=activity,
            metrics=WorkerMetrics(registry, settings.worker.slots),
            clock=utc_now,
            progress_every=settings.worker.progress_every,
            schema=schema,
        )
        _subscribe(broker, connection, handler, settings)
        patience = settings.worker.watchdog_patience
        app = _app(broker, connection, hands, Watchdog(settings.messaging, activity, patience=patience))
        slots = WorkerSlots(worker_id=new_worker_id(), slots=settings.worker.slots)
        stop = asyncio.Event()
        for background in (heartbeat.run(), announce(connection, slots, hands)):
            _keep_running(background, stop, stack)
        yield Worker(app=app, connection=connection, stop=stop)


async def _open_broker(settings: Settings, stack: AsyncExitStack) -> tuple[NatsBroker, Connection]:
    """Connected, with everything declared; waits for the broker as long as it takes."""
    broker, line = make_broker(settings.messaging, name=SERVICE, graceful_timeout=settings.worker.stop_within)
    connection = await connection_of(broker, line, settings.messaging)
    stack.push_async_callback(connection.close)
    await declare(connection.jetstream, settings.messaging)
    return broker, connection


def _workshop(settings: Settings, stack: AsyncExitStack, cancelled: CancelledOperations) -> Workshop:
    """The provider of new spaces is opened now, so that the first command does not wait for it."""
    files = FileStore.open(settings.files.url, settings.files.options)
    providers = Providers(settings.providers, files)
    stack.push_async_callback(providers.close)
    providers.writes(settings.providers.kind)
    return Workshop(
        provider=providers.writes,
        files=files,
        cancelled=cancelled,
        pace=Pace(
            first_look=settings.worker.first_look,
            look_every=settings.worker.look_every,
            verify_within=settings.worker.verify_within,
        ),
        stop_patience=settings.worker.stop_patience,
        tell_after=settings.worker.tell_after,
    )


async def _listen_for_cancels(connection: Connection, hands: Hands) -> CancelledOperations:
    cancellations = Cancellations(connection)
    cancelled = CancelledOperations(cancellations.known, generation=lambda: connection.generation)

    def hear(operation: OperationId) -> None:
        cancelled.hear(operation)
        hands.cancel(operation)

    await cancellations.listen(hear)
    return cancelled


def _subscribe(broker: NatsBroker, connection: Connection, handler: Handler, settings: Settings) -> None:
    async def take(step: Step, message: Msg) -> None:
        await handler.take(step, JetStreamDelivery(message, connection, timeout=settings.messaging.publish_timeout))

    pull_one_at_a_time(broker, connection)
    subscribe(broker, settings.worker.slots, take, fetch_timeout=settings.messaging.fetch_timeout)


def _app(broker: NatsBroker, connection: Connection, hands: Hands, watchdog: Watchdog) -> FastStream:
    """The order of a stop: what is under way is told, then subscribers stop and wait for it, then the broker closes."""

    async def begin_to_stop() -> None:
        connection.line.is_ending = True
        hands.shut_down()
        await asyncio.to_thread(watchdog.stop)

    return FastStream(broker, logger=None, after_startup=[watchdog.start], on_shutdown=[begin_to_stop])


def _keep_running(background: Coroutine[object, object, None], stop: asyncio.Event, stack: AsyncExitStack) -> None:
    """Run something beside the app; without it the process is worth nothing and stops."""

    def ended(task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            log.critical("worker.background.crashed", exc_info=task.exception())
            stop.set()

    task = asyncio.create_task(background)
    task.add_done_callback(ended)
    stack.callback(task.cancel)


def _metrics(
    settings: TelemetrySettings, registry: CollectorRegistry, connection: Connection
) -> AbstractContextManager[object]:
    if settings.metrics_port is None:
        return nullcontext()
    return serve_metrics(
        settings.metrics_host,
        settings.metrics_port,
        registry=registry,
        readiness=lambda: {"broker": connection.is_connected},
    )


if __name__ == "__main__":
    run()
