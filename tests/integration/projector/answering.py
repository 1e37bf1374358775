"""Answers commands from the stream as a worker would: takes one, reports, acknowledges."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from nats.errors import Error as NatsError

from services.projector.rounds import heed_cancel
from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.commands import AnyCommand
from shared.contracts.enums import EventType, Step
from shared.contracts.events import EVENTS, AnyEvent, SpaceProvisioned, StepResult, VersionIngested, VersionUploaded
from shared.contracts.ids import CommandId
from shared.messaging.codec import event_message, read_command
from shared.messaging.connection import Connection
from shared.messaging.publisher import Publisher

Answer = Callable[[AnyCommand], Sequence[dict[str, object]]]
"""What to report of a command: event fields beside the common ones."""


def all_well(command: AnyCommand) -> Sequence[dict[str, object]]:
    """Started, then success."""
    step = CommandId.parse(command.command_id).step
    if step in {Step.PURGE, Step.PURGE_FILE}:
        return [{"type": EventType.PURGED}]
    if step is Step.CANCEL:
        return [{"type": EventType.CANCELLED}]
    native = f"native-{CommandId.parse(command.command_id).owner}"
    results: dict[Step, StepResult] = {
        Step.PROVISION: SpaceProvisioned(native_space_id=native),
        Step.UPLOAD: VersionUploaded(native_document_id=native),
        Step.INGEST: VersionIngested(native_document_id=native, done=True, chunk_count=2, probe_found=True),
    }
    return [{"type": EventType.STARTED}, {"type": EventType.SUCCEEDED, "result": results[step]}]


class Answerer:
    """Takes commands of some steps until it is stopped."""

    def __init__(self, connection: Connection, publisher: Publisher, answer: Answer = all_well) -> None:
        self._connection = connection
        self._publisher = publisher
        self.answer = answer
        self.taken: list[str] = []

    async def run(self, *steps: Step) -> None:
        """Answer until cancelled."""
        async with asyncio.TaskGroup() as group:
            for step in steps:
                group.create_task(self._answer_step(step))

    async def _answer_step(self, step: Step) -> None:
        pull = await self._connection.jetstream.pull_subscribe_bind(consumer=durable_name(step), stream=Stream.COMMANDS)
        while True:
            messages = []
            with suppress(TimeoutError, NatsError):
                messages = await pull.fetch(20, timeout=0.5)
            heed_cancel()  # the client may have caught it
            for message in messages:
                command = read_command(message.data, message.headers)
                self.taken.append(command.command_id)
                await self.report(command)
                await message.ack()

    async def report(self, command: AnyCommand) -> None:
        """Publish what the answer says of a command."""
        run = secrets.token_hex(4)
        for number, fields in enumerate(self.answer(command), start=1):
            await self._publisher.send(
                event_message(_event(command, run, number, fields), source="test", traceparent=None)
            )


def _event(command: AnyCommand, run: str, number: int, fields: dict[str, object]) -> AnyEvent:
    parsed = CommandId.parse(command.command_id)
    return EVENTS.validate_python(
        {
            "event_id": parsed.event(run, number),
            "command_id": command.command_id,
            "owner_id": parsed.owner,
            "step": parsed.step,
            "tenant_id": command.tenant_id,
            "occurred_at": datetime.now(UTC),
            **fields,
        }
    )
