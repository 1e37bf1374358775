"""Starts a projector: stands by until the lease is free, works while it holds, stands by again when it is lost."""

import asyncio
import os
import signal
import socket
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from functools import partial

import structlog

from services.projector.checkpoints import Signing
from services.projector.lease import Lease
from services.projector.metrics import ProjectorMetrics
from services.projector.reconciling import Eyes
from services.projector.rounds import heed_cancel
from services.projector.settings import ProjectorSettings
from services.projector.surveying import Survey
from services.projector.term import Parts, Term
from shared.auth.checkpoint_file import CheckpointFile
from shared.auth.checkpoints import load_signer
from shared.auth.settings import AuditSettings
from shared.database.database import Database, open_database
from shared.database.errors import LeaseLost
from shared.database.migrate import require_current
from shared.database.settings import DatabaseSettings
from shared.domain.errors import StoreUnavailable
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import HandBoard, SlotBoard, listen_for_hands, listen_for_slots, live_workers
from shared.messaging.connection import Connection, connect
from shared.messaging.errors import NewerMessage
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.settings import MessagingSettings
from shared.messaging.streams import declare
from shared.providers.factory import Providers
from shared.providers.settings import ProviderSettings
from shared.telemetry.logging import configure_logging
from shared.telemetry.metrics import new_registry, serve_metrics
from shared.telemetry.settings import TelemetrySettings

STAND_BY = timedelta(seconds=5)
"""How long a projector that is too old for what comes next leaves the lease to others."""

log = structlog.get_logger()


async def project_forever(parts: Parts, lease: Lease) -> None:
    """Term after term, until cancelled; then the lease is given up for the successor."""
    at_once = parts.settings.sole
    try:
        while True:
            await lease.take(at_once=at_once)
            at_once = False
            parts.metrics.active(is_active=True)
            newer = await _one_term(parts, lease)
            parts.metrics.active(is_active=False)
            heed_cancel()
            if newer is not None:
                await _stand_by(parts, lease, newer)
    finally:
        with suppress(StoreUnavailable):
            await asyncio.shield(lease.give_up())


async def _one_term(parts: Parts, lease: Lease) -> NewerMessage | None:
    """A lost lease ends the term, and so does an event of a newer release, which is returned.

    Any other error ends the process, whose launcher starts it again. The term is a task of its own, because a task
    group that fails leaves its task as if somebody had asked it to stop.
    """
    newer: list[NewerMessage] = []
    try:
        await asyncio.create_task(Term(parts, lease).run())
    except* LeaseLost:
        pass
    except* NewerMessage as met:
        newer += [error for error in met.exceptions if isinstance(error, NewerMessage)]
    return newer[0] if newer else None


async def _stand_by(parts: Parts, lease: Lease, newer: NewerMessage) -> None:
    """Leave the work to a projector that is upgraded, if there is one by now; look again after a while."""
    log.error("projector.event.newer", version=newer.version, command_id=newer.command_id, error=newer.message)
    parts.metrics.newer()
    with suppress(StoreUnavailable):
        await lease.give_up()
    await asyncio.sleep(STAND_BY.total_seconds())


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
        survey = _survey(stack)
        parts = await _parts(settings, messaging, database, connection, ProjectorMetrics(registry), survey)
        lease = Lease(database, _holder(), ttl=settings.lease_ttl, renewal=settings.lease_renewal)
        log.info("projector.started", holder=_holder())
        await project_forever(parts, lease)


async def _parts(
    settings: ProjectorSettings,
    messaging: MessagingSettings,
    database: Database,
    connection: Connection,
    metrics: ProjectorMetrics,
    survey: Survey,
) -> Parts:
    board, hands = SlotBoard(), HandBoard()
    await listen_for_slots(connection, board.hear)
    await listen_for_hands(connection, hands.hear)
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
        eyes=Eyes(
            survey=survey,
            workers=lambda: live_workers(board, hands, connection.connected_for),
            patience=messaging.ack_wait,
        ),
        signing=_signing(AuditSettings()),
    )


def _survey(stack: AsyncExitStack) -> Survey:
    """Providers are opened when they are looked at for the first time."""
    files = FilesSettings()
    store = FileStore.open(files.url, files.options)
    providers = Providers(ProviderSettings(), store)
    stack.push_async_callback(providers.close)
    return Survey(reads=providers.reads, store=store)


def _signing(settings: AuditSettings) -> Signing | None:
    """Without a key nothing is signed, and it is said once: a cut tail of the audit would not show."""
    if settings.key_file is None:
        log.warning("projector.audit.unsigned", setting="KNOWGATE_AUDIT_KEY_FILE")
        return None
    return Signing(
        every=settings.checkpoint_interval,
        signer=load_signer(settings.key_file),
        file=None if settings.checkpoint_file is None else CheckpointFile(settings.checkpoint_file),
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
