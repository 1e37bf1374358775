"""Starts a projector: stands by until the lease is free, works while it holds, stands by again when it is lost."""

import asyncio
import os
import signal
import socket
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial

import structlog

from services.projector.lease import Lease
from services.projector.metrics import ProjectorMetrics
from services.projector.rounds import heed_cancel
from services.projector.settings import ProjectorSettings
from services.projector.term import Parts, Term
from shared.database.database import Database, open_database
from shared.database.errors import LeaseLost
from shared.database.migrate import require_current
from shared.database.settings import DatabaseSettings
from shared.domain.errors import StoreUnavailable
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import SlotBoard, listen_for_slots
from shared.messaging.connection import Connection, connect
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.settings import MessagingSettings
from shared.messaging.streams import declare
from shared.telemetry.logging import configure_logging
from shared.telemetry.metrics import new_registry, serve_metrics
from shared.telemetry.settings import TelemetrySettings

log = structlog.get_logger()


async def project_forever(parts: Parts, lease: Lease) -> None:
    """Term after term, until cancelled; then the lease is given up for the successor."""
    at_once = parts.settings.sole
    try:
        while True:
            await lease.take(at_once=at_once)
            at_once = False
            parts.metrics.active(is_active=True)
            with suppress(LeaseLost):
                await _one_term(parts, lease)
            parts.metrics.active(is_active=False)
            heed_cancel()
    finally:
        with suppress(StoreUnavailable):
            await asyncio.shield(lease.give_up())


async def _one_term(parts: Parts, lease: Lease) -> None:
    """A lost lease ends the term; any other error ends the process, whose launcher starts it again."""
    try:
        await Term(parts, lease).run()
    except* LeaseLost as lost:
        raise lost.exceptions[0] from None


async def serve() -> None:
    """Run until cancelled."""
    settings, telemetry, messaging = ProjectorSettings(), TelemetrySettings(), MessagingSettings()
    configure_logging(telemetry, service="projector")
    async with AsyncExitStack() as stack:
        database = open_database(DatabaseSettings())
        stack.push_async_callback(database.close)
        await require_current(database)
        connection = await connect(messaging, name="projector")
        stack.push_async_callback(connection.close)
        await declare(connection.jetstream, messaging)
        registry = new_registry()
        if telemetry.metrics_port is not None:
            stack.enter_context(serve_metrics(telemetry.metrics_host, telemetry.metrics_port, registry=registry))
        parts = await _parts(settings, messaging, database, connection, ProjectorMetrics(registry))
        lease = Lease(database, _holder(), ttl=settings.lease_ttl, renewal=settings.lease_renewal)
        log.info("projector.started", holder=_holder())
        await project_forever(parts, lease)


async def _parts(
    settings: ProjectorSettings,
    messaging: MessagingSettings,
    database: Database,
    connection: Connection,
    metrics: ProjectorMetrics,
) -> Parts:
    board = SlotBoard()
    await listen_for_slots(connection, board.hear)
    return Parts(
        settings=settings,
        database=database,
        connection=connection,
        publisher=Publisher(connection, messaging),
        reader=EventReader(connection, messaging, batch_size=settings.batch_size),
        board=board,
        around=Surroundings(settings=PipelineSettings()),
        metrics=metrics,
        declare=partial(declare, connection.jetstream, messaging),
    )


def _holder() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


async def _until(stop: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    """Run `work` until it ends by an error, or until `stop` is set: then it is cancelled and awaited."""
    running = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def run() -> None:
    """The process: ends in good order on SIGTERM and SIGINT, also while it waits for a broker that is away."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await _until(stop, serve())
    log.info("projector.stopped")


if __name__ == "__main__":
    asyncio.run(run())
