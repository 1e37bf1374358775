"""A gateway with a broker of ours, and what the poisons and the good documents need of it."""

import asyncio
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Final

import nats
from nats.aio.client import Client as Broker
from nats.aio.msg import Msg

from services.cli.stack import Stack
from shared.client.waiting import Waiting
from shared.contracts.catalogue import event_subject
from shared.contracts.commands import ProviderKind
from shared.contracts.documents import DocumentOperationAccepted
from shared.contracts.enums import EventType, InterruptReason
from shared.contracts.events import StepFailed, StepInterrupted
from shared.contracts.ids import OperationId
from shared.contracts.operations import Operation
from shared.messaging.codec import MESSAGE_ID, read_event
from shared.messaging.local_server import LocalNatsServer
from shared.providers.scripted.provider import ScriptedProvider
from tests.e2e.conversation import Conversation, conversation

SPACE: Final = "poison"
ENDS_WITHIN: Final = timedelta(minutes=15)
SETTINGS: Final = {
    "KNOWGATE_PIPELINE_RETRY_FIRST_WAIT": "0.1",
    "KNOWGATE_EMBEDDED_PARSER_TIME": "60",
    "KNOWGATE_WORKER_TELL_AFTER": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How large a run is."""

    good: int
    """Documents after each bad one."""
    provider: ProviderKind
    workers: int
    """So many that their restarts, which come later and later, keep nobody waiting."""
    ack_wait: timedelta
    """After this a command whose worker was killed is delivered again."""

    def variables(self, home: Path, broker_url: str) -> Mapping[str, str]:
        """The settings of the gateway."""
        return {
            **SETTINGS,
            "KNOWGATE_NATS_URL": broker_url,
            "KNOWGATE_NATS_ACK_WAIT": str(self.ack_wait.total_seconds()),
            "KNOWGATE_PROVIDER_KIND": self.provider.value,
            "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(home / "scripted.db"),
        }


@dataclass(slots=True, kw_only=True)
class Scene:
    """What can be said and seen."""

    stack: Stack
    talk: Conversation
    broker: Broker
    scripted: ScriptedProvider
    crashes: Counter[OperationId] = field(default_factory=Counter)
    """How often the worker of each operation's commands was killed until that was counted."""
    failures: defaultdict[OperationId, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What else each operation was retried for."""
    _numbers: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    async def listen(self) -> None:
        """Note from now on whose workers were killed, and what else went wrong."""

        async def hear(message: Msg) -> None:
            event = read_event(message.data, message.headers)
            if isinstance(event, StepInterrupted) and event.reason is InterruptReason.CRASH:
                self.crashes[OperationId(event.owner_id)] += 1
            if isinstance(event, StepFailed):
                self.failures[OperationId(event.owner_id)].append(event.reason.value)

        for kind in (EventType.INTERRUPTED, EventType.FAILED):
            await self.broker.subscribe(event_subject(kind, "*"), cb=hear)

    async def publish(self, subject: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Put a message into its stream, as one that was never there before."""
        given = {**(headers or {}), MESSAGE_ID: f"poison-{self._numbers()}"}
        await self.broker.jetstream().publish(subject, body, headers=given)

    async def end_of(self, operation_id: OperationId) -> Operation:
        """The operation in its terminal state; StillRunning when it does not come."""
        return await Waiting(within=ENDS_WITHIN).for_operation(self.talk.client.gateway, operation_id)

    async def failure_of(self, accepted: DocumentOperationAccepted) -> str | None:
        """The code of the failure in which a new document has ended, or None when it has not."""
        await self.end_of(accepted.operation_id)
        document = await self.talk.client.gateway.get_document(accepted.document_id)
        version = document.candidate_version
        return None if version is None or version.error is None else version.error.code


@asynccontextmanager
async def scene_on(stack: Stack, broker_url: str, scripted: Path) -> AsyncIterator[Scene]:
    """Everything connected."""
    provider = ScriptedProvider(path=scripted)
    broker = await nats.connect(broker_url)
    try:
        async with conversation(stack, SPACE) as talk:
            scene = Scene(stack=stack, talk=talk, broker=broker, scripted=provider)
            await scene.listen()
            yield scene
    finally:
        await broker.close()
        await provider.close()


def on_stage(trial: Trial, play: Callable[[Scene], Awaitable[None]]) -> None:
    """Come up in a temporary home with a broker of ours, play, go down."""
    with (
        tempfile.TemporaryDirectory(prefix="knowgate-poison-") as directory,
        LocalNatsServer(Path(directory) / "broker") as server,
        Stack(
            Path(directory) / "home",
            workers=trial.workers,
            variables=trial.variables(Path(directory), server.url),
        ) as stack,
    ):

        async def run() -> None:
            async with scene_on(stack, server.url, Path(directory) / "scripted.db") as scene:
                await play(scene)

        asyncio.run(run())
