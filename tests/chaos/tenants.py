"""The three tenants of a run: how each talks to the gateway, and what it knows of its own things."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeVar

import anyio
import httpx

from services.cli.settings import CliSettings
from services.cli.stack import Stack
from shared.client.administration import Administration
from shared.client.events import Events
from shared.client.exchange import Exchange, Patience
from shared.client.files import Files
from shared.client.gateway import Gateway
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.telemetry.stamps import new_id
from tests.chaos.ledger import Ledger
from tests.chaos.oracle.world import Accepted

TENANTS: Final = ("acme", "globex", "initech")
DOMAIN: Final = "general"
TIMEOUT: Final = httpx.Timeout(8.0, connect=3.0)
"""Shorter than a stall: a caller gives up on an answer, and asks again with the same key."""
CONNECTIONS: Final = 60
PATIENT: Final = Patience(attempts=100_000, longest_wait=timedelta(seconds=2))
"""Until it is answered; the run itself is bounded."""
AT_ONCE: Final = Patience(attempts=1)
ABANDONED: Final = 0.15
"""Of the requests that change something: the caller hangs up at a random moment and asks again with the same key."""
HANGS_UP_AFTER: Final = (0.002, 0.15)

Told = TypeVar("Told")


@dataclass(slots=True)
class Page:
    """A document as its tenant knows it."""

    document_id: DocumentId
    space_id: SpaceId
    is_stable: bool
    """It is replaced and reindexed and never taken away."""
    is_served: bool = False
    """Its first operation was seen to succeed."""


@dataclass(slots=True)
class Tenant:
    """One tenant. What it knows comes from answers alone."""

    name: str
    ledger: Ledger
    dice: random.Random
    gateway: Gateway
    """Repeats what may be repeated until it is answered."""
    asking: Gateway
    """Asks once."""
    administration: Administration
    files: Files
    events: Events
    pages: dict[DocumentId, Page] = field(default_factory=dict)
    spaces: list[SpaceId] = field(default_factory=list)
    running: dict[OperationId, DocumentId | None] = field(default_factory=dict)
    """Accepted and not yet seen to have ended."""
    failed: list[OperationId] = field(default_factory=list)
    """Seen as FAILED and retryable."""
    ended: list[OperationId] = field(default_factory=list)
    citations: list[str] = field(default_factory=list)
    last_seq: int = 0
    texts: int = 0
    """How many there were: the number of a text is in its mark."""

    async def change(self, what: str, request: Callable[[str], Awaitable[Told]]) -> Told:
        """Ask for something with a key of its own, now and then twice because the first answer was not awaited."""
        key, is_answered = new_id("key"), False
        self.ledger.unanswered.append(place := f"{what} of {self.name} with key {key}")
        try:
            if self.dice.random() < ABANDONED:
                with anyio.move_on_after(self.dice.uniform(*HANGS_UP_AFTER)):
                    answer = await request(key)
                    is_answered = True
                    return answer
            answer = await request(key)
            is_answered = True
            return answer
        except Exception:
            is_answered = True  # a refusal is an answer
            raise
        finally:
            if is_answered:
                self.ledger.unanswered.remove(place)

    def promised(self, operation_id: OperationId, key: str, document_id: DocumentId | None = None) -> None:
        """Keep a 202."""
        self.ledger.accepted.append(Accepted(operation_id=operation_id, tenant=self.name, key=key))
        if operation_id not in self.ended:
            self.running[operation_id] = document_id

    def next_mark(self) -> str:
        """The mark of a new text."""
        self.texts += 1
        return f"mark-{self.name}-{self.texts}"


@asynccontextmanager
async def opened(stack: Stack, name: str, ledger: Ledger, dice: random.Random) -> AsyncIterator[Tenant]:
    """A tenant that talks to the gateway, over connections of its own."""
    access = stack.access(CliSettings(url=None, tenant=name, subject=f"{name}-user", domains=(DOMAIN,)))
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    async with httpx.AsyncClient(base_url=access.url, timeout=TIMEOUT, limits=limits, trust_env=False) as http:
        patient = Exchange(http, access.credentials, patience=PATIENT)
        once = Exchange(http, access.credentials, patience=AT_ONCE)
        yield Tenant(
            name=name,
            ledger=ledger,
            dice=dice,
            gateway=Gateway(patient),
            asking=Gateway(once),
            administration=Administration(patient),
            files=Files(once),
            events=Events(patient),
        )
