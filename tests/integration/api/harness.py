"""A whole api of real parts for tests: database, directory of files, identity, provider; only the broker is a fake."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp

from services.api.app import build_app
from services.api.audit.trail import AuditTrail, writer
from services.api.broker.outgoing import Outgoing
from services.api.broker.presence import BrokerPresence
from services.api.broker.room import Room
from services.api.broker.workers import WorkerLook
from services.api.edge.directory import StoredDirectory
from services.api.events.places import Places
from services.api.limits.limits import Limits
from services.api.limits.settings import LimitSettings
from services.api.metrics import ApiMetrics
from services.api.parts import Parts
from services.api.watches import Watches
from shared.auth.assertions import AssertionVerifier
from shared.auth.authentication import Authenticator
from shared.auth.development import ISSUER, DevelopmentIssuer
from shared.auth.directory import Directory
from shared.auth.sealing import Sealer
from shared.auth.service_tokens import ServiceToken, ServiceTokens, digest_of
from shared.contracts.commands import ProviderKind, ProviderProfile
from shared.contracts.enums import Step
from shared.contracts.envelope import ErrorEnvelope
from shared.contracts.ids import TenantId
from shared.contracts.spaces import PROFILE_CODE
from shared.database.database import open_database
from shared.database.quick_reads import open_quick_reads
from shared.database.settings import DatabaseSettings
from shared.domain.authorization import DEFAULT_ROLES
from shared.domain.errors import StoreUnavailable
from shared.domain.unfinished import LiveWorkers
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.settings import PipelineSettings
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import Message
from shared.messaging.publisher import Acked
from shared.providers.scripted.provider import ScriptedProvider
from shared.telemetry.stamps import new_id
from tests.integration.api.pipeline import run_commands

KNOWLEDGE = "/internal/v1/knowledge"
AUDIENCE = "knowgate"
TOKEN = "a-service-token-of-the-tests"
START = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
TRAVEL = b"Trains go before planes.\n\nA night in a hotel costs 120 euros at most."
NO_LIMITS = LimitSettings(requests_per_second=0, queued=0)
"""The clock that buckets are refilled by stands in most tests."""
HANDED_ON_WITHIN = timedelta(seconds=36)
PROFILE = ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code=PROFILE_CODE)


class SetClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def move(self, by: timedelta) -> None:
        """Let time pass."""
        self.now += by


@dataclass(slots=True)
class Workforce:
    """What the workers are said to have announced: all of them idle, unless a test says otherwise."""

    workers: LiveWorkers = field(
        default_factory=lambda: LiveWorkers(is_known=True, slots=dict.fromkeys(Step, 2), hands={})
    )

    def __call__(self) -> LiveWorkers:
        return self.workers


class FakeBroker:
    """Takes what is published while it is there."""

    def __init__(self) -> None:
        self.is_there = True
        self.messages: list[Message] = []

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        """Acknowledge everything, or nothing."""
        if not self.is_there:
            return [StoreUnavailable() for _ in messages]
        self.messages.extend(messages)
        return [Acked(stream="commands", stream_created="x", sequence=1, is_duplicate=False) for _ in messages]


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who may call."""

    subject: str
    tenant: str = "acme"
    roles: tuple[str, ...] = ("knowledge-admin",)
    groups: tuple[str, ...] = ()
    domains: tuple[str, ...] = ("general",)
    session: str = "session-1"


ALICE = User(subject="alice")
BOB = User(subject="bob")
READER = User(subject="rita", roles=("knowledge-reader",))
FOREIGNER = User(subject="alice", tenant="globex")


@dataclass(slots=True, kw_only=True)
class Gateway:
    """The api under test, and everything a test may want to look at or turn."""

    app: ASGIApp
    http: httpx.AsyncClient
    parts: Parts
    workforce: Workforce
    issuer: DevelopmentIssuer
    clock: SetClock
    seconds: list[float]
    """What the monotonic clock says, as its only item."""
    provider: ScriptedProvider
    broker: FakeBroker
    objects: Path
    """The folder of the object store."""
    numbers: Iterator[int] = field(default_factory=partial(count, 1))

    def headers(self, user: User = ALICE, /, **changed: str | None) -> dict[str, str]:
        """The headers of one call; a changed one of None is left out. ``x_tool_call_id="…"`` changes one."""
        number = next(self.numbers)
        headers: dict[str, str | None] = {
            "authorization": f"Bearer {TOKEN}",
            "x-user-assertion": self.assertion(user),
            "x-harness-session-id": user.session,
            "x-tool-call-id": f"call-{number}",
            "x-request-id": f"request-{number}",
        }
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        return {name: value for name, value in headers.items() if value is not None}

    def assertion(self, user: User) -> str:
        """What proves the user for ten minutes."""
        return self.issuer.mint(
            audience=AUDIENCE,
            tenant=user.tenant,
            subject=user.subject,
            session_id=user.session,
            now=self.clock(),
            groups=user.groups,
            roles=user.roles,
            domains=user.domains,
        )

    async def get(self, path: str, user: User = ALICE, /, **params: object) -> httpx.Response:
        """Read something of the contract."""
        query = {name: str(value) for name, value in params.items()}
        return await self.http.get(KNOWLEDGE + path, headers=self.headers(user), params=query or None)

    async def post(
        self, path: str, body: object, user: User = ALICE, key: str | None = None, method: str = "POST"
    ) -> httpx.Response:
        """Change something of the contract, with a new idempotency key unless one is given."""
        key = key or new_id("key")
        headers = self.headers(user, idempotency_key=key)
        return await self.http.request(method, KNOWLEDGE + path, headers=headers, json=body)

    async def upload(self, name: str, content: bytes, user: User = ALICE) -> httpx.Response:
        """Bring a file."""
        headers = self.headers(user, x_file_name=quote(name, safe=""))
        return await self.http.post("/internal/v1/files", headers=headers, content=content)

    async def make_space(self, code: str = "handbook", user: User = ALICE, domain: str = "general") -> str:
        """A space that is ACTIVE."""
        created = await self.post("/spaces", space_request(code, domain), user)
        assert created.status_code == 201, created.text
        await self.work()
        return str(created.json()["data"]["spaceId"])

    async def make_document(
        self,
        space_id: str,
        name: str = "Travel",
        content: bytes = TRAVEL,
        user: User = ALICE,
    ) -> str:
        """A document that is ACTIVE."""
        accepted = await self.accept_document(space_id, name, content, user)
        await self.work()
        return str(accepted["documentId"])

    async def accept_document(
        self, space_id: str, name: str = "Travel", content: bytes = TRAVEL, user: User = ALICE
    ) -> dict[str, str]:
        """A document that was taken on and not worked on yet."""
        file = await self.upload(f"{name}.txt", content, user)
        assert file.status_code == 201, file.text
        body = {"fileResourceId": file.json()["data"]["fileResourceId"], "documentName": name}
        accepted = await self.post(f"/spaces/{space_id}/documents", body, user)
        assert accepted.status_code == 202, accepted.text
        data: dict[str, str] = accepted.json()["data"]
        return data

    async def work(self) -> None:
        """Do everything that was taken on, as workers and projector would."""
        await run_commands(self.parts.database, self.provider, self.parts.around)


@asynccontextmanager
async def running_gateway(
    settings: DatabaseSettings,
    folder: Path,
    limits: LimitSettings = NO_LIMITS,
    *,
    most_waiters: int = 1000,
    most_streams: int = 200,
    most_streams_of_tenant: int = 50,
) -> AsyncIterator[Gateway]:
    """An api on a migrated database, with its background tasks; everything is written and closed at the end."""
    clock, seconds, broker = SetClock(), [0.0], FakeBroker()
    metrics = ApiMetrics(CollectorRegistry())
    stack = AsyncExitStack()
    database = open_database(settings)
    stack.push_async_callback(database.close)
    quick_reads = await stack.enter_async_context(open_quick_reads(database, settings))
    around = Surroundings(settings=PipelineSettings(), clock=clock, chance=lambda: 0.5)
    issuer = DevelopmentIssuer(folder / "keys")
    objects = folder / "objects"
    store = FileStore.open(objects.as_uri())
    provider = ScriptedProvider(files=store, clock=clock)
    stack.push_async_callback(provider.close)
    outgoing = Outgoing(broker, metrics)
    trail = AuditTrail(writer(database), metrics, clock, new_id)
    presence = BrokerPresence(lambda: broker.is_there, timedelta(seconds=60), lambda: seconds[0])
    room, workforce = Room(lambda: seconds[0]), Workforce()

    async def works() -> None:
        """Nothing fails."""

    parts = Parts(
        database=database,
        quick_reads=quick_reads,
        store=store,
        files=FilesSettings(url=objects.as_uri(), max_bytes=1_000_000),
        provider=provider,
        profile=PROFILE,
        authenticator=authenticator(issuer, clock, StoredDirectory(reads=quick_reads)),
        sealer=Sealer([b"k" * 64]),
        roles=DEFAULT_ROLES,
        around=around,
        limits=Limits.of(
            limits, lambda: seconds[0], Places(most_streams, most_streams_of_tenant, metrics.event_streams)
        ),
        presence=presence,
        room=room,
        look=WorkerLook(workers=workforce, patience=HANDED_ON_WITHIN),
        outgoing=outgoing,
        trail=trail,
        watches=Watches.of(quick_reads, most_waiters=most_waiters, most_streams=most_streams),
        metrics=metrics,
        checks={"database": works, "broker": works},
        most_items=100,
        address="http://localhost:8080",
        version="0.0.1",
    )
    app = build_app(parts)
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with (
        stack,
        asyncio.TaskGroup() as tasks,
        httpx.AsyncClient(transport=transport, base_url="http://gateway", trust_env=False) as http,
    ):
        tasks.create_task(outgoing.run())
        tasks.create_task(trail.run())
        tasks.create_task(parts.watches.run())
        yield Gateway(
            app=app,
            http=http,
            parts=parts,
            workforce=workforce,
            issuer=issuer,
            clock=clock,
            seconds=seconds,
            provider=provider,
            broker=broker,
            objects=objects,
        )
        await outgoing.stop()
        await trail.stop()
        parts.watches.stop()


def authenticator(issuer: DevelopmentIssuer, clock: SetClock, directory: Directory) -> Authenticator:
    """Knows one service, which may speak for two tenants."""
    tenants = frozenset({TenantId("acme"), TenantId("globex")})
    tokens = ServiceTokens([ServiceToken(service="harness", digest=digest_of(TOKEN), tenants=tenants)])
    verifier = AssertionVerifier({ISSUER: issuer.keys()}, audience=AUDIENCE, clock=clock)
    return Authenticator(tokens, verifier, directory, clock)


def space_request(code: str = "handbook", domain: str = "general") -> dict[str, str]:
    """What creates a space."""
    return {
        "code": code,
        "name": f"The {code}",
        "profileCode": PROFILE_CODE,
        "defaultSecurityDomainCode": domain,
    }


def checked_error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error in an answer, after a look at everything that every error must have."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    envelope = ErrorEnvelope.model_validate_json(answer.content)
    assert envelope.meta.error.code == code
    assert answer.headers["x-request-id"] == envelope.meta.request_id
    error: dict[str, Any] = answer.json()["meta"]["error"]
    return error


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
