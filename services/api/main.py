"""The HTTP process: the only place where its parts are made and joined."""

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

import httpx
import structlog
import uvloop
from sqlalchemy import Connection as DatabaseConnection

from services.api.app import build_app
from services.api.audit.trail import AuditTrail, writer
from services.api.background import Background
from services.api.broker.link import BrokerLink
from services.api.broker.outgoing import Outgoing
from services.api.broker.presence import BrokerPresence
from services.api.broker.room import Room
from services.api.broker.workers import WorkerLook, worker_checks, worker_look
from services.api.edge.directory import StoredDirectory
from services.api.events.places import Places
from services.api.health.readiness import Check
from services.api.limits.limits import Limits
from services.api.limits.settings import LimitSettings
from services.api.metrics import ApiMetrics
from services.api.parts import Parts
from services.api.server import ServerDidNotStart, serve_http
from services.api.settings import ApiSettings
from services.api.uploads.assembly import upload_clearing
from services.api.watches import Watches
from shared.auth.authentication import Authenticator, UnsafeAuthentication, build_authenticator, build_sealer
from shared.auth.directory import Directory
from shared.auth.settings import AuthSettings
from shared.contracts.commands import ProviderProfile
from shared.contracts.spaces import PROFILE_CODE
from shared.database.database import Database, open_database
from shared.database.migrate import require_current
from shared.database.quick_reads import open_quick_reads
from shared.database.settings import DatabaseSettings
from shared.domain.errors import KnowgateError, StoreUnavailable
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.announcements import HandBoard, SlotBoard
from shared.messaging.connection import connect
from shared.messaging.settings import MessagingSettings
from shared.providers.factory import Providers
from shared.providers.ports import ProviderReads
from shared.providers.settings import ProviderSettings
from shared.telemetry.logging import configure_logging
from shared.telemetry.metrics import new_registry
from shared.telemetry.settings import TelemetrySettings
from shared.telemetry.stamps import new_id, utc_now

log = structlog.get_logger()

SERVICE = "api"
PRODUCT = "knowgate"
MISCONFIGURED = 78
"""Exit code of a process that cannot work as it is set up (EX_CONFIG)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the process reads from its environment."""

    api: ApiSettings = field(default_factory=ApiSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    files: FilesSettings = field(default_factory=FilesSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    messaging: MessagingSettings = field(default_factory=MessagingSettings)
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    providers: ProviderSettings = field(default_factory=ProviderSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)


def run() -> None:
    """Serve until a signal asks to stop."""
    settings = Settings()
    configure_logging(settings.telemetry, service=SERVICE)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(settings))
    except* (KnowgateError, UnsafeAuthentication, ServerDidNotStart) as refused:
        log.critical("api.start.refused", errors=[str(error) for error in refused.exceptions])
        sys.exit(MISCONFIGURED)


async def serve(settings: Settings) -> None:
    """Assemble the parts and serve with them."""
    async with assembled(settings) as (parts, background):
        app = build_app(parts)
        log.info("api.started", host=settings.api.api_host, port=settings.api.api_port)
        await background.beside(serve_http(app, settings.api, on_stop=parts.watches.stop))
    log.info("api.stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """The process's side of the broker, which may come later than the process."""

    link: BrokerLink
    presence: BrokerPresence
    room: Room
    board: SlotBoard
    look: WorkerLook


@asynccontextmanager
async def assembled(settings: Settings) -> AsyncIterator[tuple[Parts, Background]]:
    """Open everything the process needs, and close it in the opposite order."""
    async with AsyncExitStack() as stack:
        database = open_database(settings.database)
        stack.push_async_callback(database.close)
        await require_current(database)
        broker = broker_side(settings)
        parts = await open_parts(settings, database, broker, stack)
        yield (
            parts,
            Background(
                link=broker.link,
                presence=broker.presence,
                outgoing=parts.outgoing,
                trail=parts.trail,
                watches=parts.watches,
                clearing=upload_clearing(database, parts.store, settings.files, utc_now),
            ),
        )


def broker_side(settings: Settings) -> Broker:
    """Nothing is connected yet."""
    room, board, hands = Room(time.monotonic), SlotBoard(), HandBoard()
    link = BrokerLink(settings.messaging, lambda: connect(settings.messaging, name=SERVICE), room, board, hands)
    presence = BrokerPresence(link.is_connected, settings.api.accept_without_broker, time.monotonic)
    look = worker_look(board, hands, link.connected_for, settings.messaging)
    return Broker(link=link, presence=presence, room=room, board=board, look=look)


async def open_parts(settings: Settings, database: Database, broker: Broker, stack: AsyncExitStack) -> Parts:
    """Everything that the application is put together from."""
    store = FileStore.open(settings.files.url, settings.files.options)
    providers = Providers(settings.providers, store)
    stack.push_async_callback(providers.close)
    provider = providers.reads(settings.providers.kind)
    quick_reads = await stack.enter_async_context(open_quick_reads(database, settings.database))
    metrics = ApiMetrics(new_registry())
    streams = Places(settings.api.most_streams, settings.api.most_streams_of_tenant, metrics.event_streams)
    return Parts(
        database=database,
        quick_reads=quick_reads,
        store=store,
        files=settings.files,
        provider=provider,
        profile=ProviderProfile(kind=settings.providers.kind, profile_code=PROFILE_CODE),
        authenticator=await open_authenticator(settings, StoredDirectory(reads=quick_reads), stack),
        sealer=build_sealer(settings.auth),
        roles=settings.api.roles,
        around=Surroundings(settings=settings.pipeline),
        limits=Limits.of(settings.limits, time.monotonic, streams),
        presence=broker.presence,
        room=broker.room,
        look=broker.look,
        outgoing=Outgoing(broker.link, metrics),
        trail=AuditTrail(writer(database), metrics, utc_now, new_id),
        watches=Watches.of(quick_reads, most_waiters=settings.api.most_waiters, most_streams=settings.api.most_streams),
        metrics=metrics,
        checks=checks(database, store, provider, broker),
        most_items=settings.api.list_max_items,
        address=settings.api.address,
        version=version(PRODUCT),
    )


async def open_authenticator(settings: Settings, directory: Directory, stack: AsyncExitStack) -> Authenticator:
    """Tells who calls; it fetches the keys of issuers that publish them."""
    keys = await stack.enter_async_context(httpx.AsyncClient(follow_redirects=False))
    return build_authenticator(
        settings.auth, host=settings.api.api_host, client=keys, directory=directory, clock=utc_now
    )


def checks(database: Database, store: FileStore, provider: ProviderReads, broker: Broker) -> Mapping[str, Check]:
    """What has to work for the process to be ready."""

    async def database_answers() -> None:
        await database.read(_select_one)

    async def broker_is_there() -> None:
        if not broker.presence.is_there:
            raise StoreUnavailable("There is no connection to the broker.")

    return {
        "database": database_answers,
        "broker": broker_is_there,
        "files": store.check,
        "provider": provider.check,
        **worker_checks(broker.board),
    }


def _select_one(conn: DatabaseConnection) -> None:
    conn.exec_driver_sql("SELECT 1").scalar_one()


if __name__ == "__main__":
    run()
