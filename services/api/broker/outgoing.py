"""Publishes what was just committed, behind the answer. What is not published here, the dispatcher publishes."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Protocol

import structlog

from services.api.metrics import ApiMetrics
from shared.database.outbox import OutboxCommand
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message
from shared.messaging.publisher import Acked
from shared.outbox.sending import message_of

log = structlog.get_logger()

SOURCE: Final = "api"
MOST_WAITING: Final = 1000
MOST_AT_ONCE: Final = 256
STOPS_WITHIN: Final = timedelta(seconds=5)


class Publishes(Protocol):
    """Puts messages into the command stream; `messaging` satisfies it."""

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        """For each message its acknowledgement or why there is none."""


class Outgoing:
    """Commands on their way out. `run` it as a task; `stop` it and the task ends when all are out."""

    def __init__(self, publisher: Publishes, metrics: ApiMetrics) -> None:
        self._publisher = publisher
        self._metrics = metrics
        self._queue: asyncio.Queue[OutboxCommand | None] = asyncio.Queue(MOST_WAITING)

    def offer(self, command: OutboxCommand) -> None:
        """Have a committed command published; one too many is left to the dispatcher."""
        try:
            self._queue.put_nowait(command)
        except asyncio.QueueFull:
            self._metrics.published.labels("left").inc()

    async def run(self) -> None:
        """Publish what comes, until stopped."""
        is_stopping = False
        while not is_stopping:
            batch = [await self._queue.get()]
            while len(batch) < MOST_AT_ONCE and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            is_stopping = None in batch
            await self._publish([command for command in batch if command is not None])

    async def stop(self) -> None:
        """Have `run` publish what waits and return."""
        await self._queue.put(None)

    async def _publish(self, commands: Sequence[OutboxCommand]) -> None:
        try:
            answers = await self._publisher.publish_many([message_of(command, SOURCE) for command in commands])
        except Exception:
            log.exception("api.commands.crashed", commands=len(commands))
            return
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(answer, StoreUnavailable):
                log.warning("api.command.left", command_id=command.command_id, reason=answer.message)
            self._metrics.published.labels("published" if isinstance(answer, Acked) else "left").inc()
