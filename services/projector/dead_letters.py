"""Reads the stream of dead letters: what workers have buried, and what the broker says of messages nobody works on."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from sqlalchemy import Connection

from services.projector.letters import Letter, bury, tenants_of
from services.projector.reading import Reading
from shared.contracts.catalogue import Stream
from shared.contracts.enums import LetterKind
from shared.contracts.ids import CommandId, EventId
from shared.database.database import Database
from shared.database.dead_letters import stuck_owners
from shared.database.errors import LeaseLost
from shared.database.inbox import known_events, remember_events
from shared.database.outbox import OutboxCommand, find_commands, find_published
from shared.domain.errors import StoreUnavailable
from shared.lifecycle.interrupt_commands import interrupt_commands
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import command_message_id, sender_of
from shared.messaging.dead_letters import ORIGIN, REASON, Advisory, AdvisoryKind, read_advisory
from shared.messaging.stream_state import StoredMessage
from shared.outbox.sending import message_of

EXHAUSTED: Final = "It was delivered {deliveries} times, and no worker has answered it."
TERMINATED: Final = (
    "Its message was taken out of the queue by something that is not a worker of ours. "
    "If it was a command of the gateway, it is published again."
)
SOURCE: Final = "dispatcher"

log = structlog.get_logger()


class Streams(Protocol):
    """What the broker is asked; `messaging` satisfies it."""

    async def message_at(self, stream: str, sequence: int) -> StoredMessage | None:
        """The message with this sequence, or None when it is not there."""

    async def delete(self, stream: str, sequence: int) -> bool:
        """Remove the message with this sequence; False when it was not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    """Makes of each message of the stream what there is to be made of it. All of it may be done again."""

    reading: Reading
    database: Database
    streams: Streams
    around: Surroundings
    guard: Callable[[Connection], None]

    async def run(self) -> None:
        """Read until cancelled or LeaseLost. What is away for a while is waited for."""
        await self.reading.run(self._take)

    async def _take(self, batch: Sequence[StoredMessage]) -> None:
        """Each alone: there are few, and one that fails must not hold up the rest."""
        for message in batch:
            try:
                await self._take_one(message)
            except (StoreUnavailable, LeaseLost):
                raise
            except Exception:
                log.exception("projector.dead_letter.failed", subject=message.subject, sequence=message.sequence)
                await self.reading.write(message, lambda conn: None)

    async def _take_one(self, message: StoredMessage) -> None:
        advisory = read_advisory(message)
        if advisory is None:
            await self.reading.write(message, lambda conn: self._keep_copy(conn, message))
        elif advisory.kind is AdvisoryKind.MSG_TERMINATED:
            await self.reading.write(message, lambda conn: self._terminated(conn, message, advisory))
        else:
            await self._exhausted(advisory)
            await self.reading.write(message, lambda conn: None)

    def _keep_copy(self, conn: Connection, message: StoredMessage) -> None:
        """A copy of a command. A worker has answered it, or could not tell whose it was."""
        sender = sender_of(message.headers)
        owner_id = "" if sender.command_id is None else CommandId.parse(sender.command_id).owner
        letter = Letter(
            kind=LetterKind.COMMAND,
            owner_id=owner_id,
            subject=message.subject,
            headers=message.headers,
            body=message.body,
            message_id=message.message_id or _name_of(message),
            error=message.headers.get(REASON, "It does not say why it lies here."),
        )
        bury(conn, [letter], self.around)
        origin = message.headers.get(ORIGIN)
        if origin is not None and not known_events(conn, {_buried(origin)}):
            remember_events(conn, {_buried(origin)}, self.around.clock())

    def _terminated(self, conn: Connection, message: StoredMessage, advisory: Advisory) -> None:
        """Workers terminate what they have buried, and nothing else. Whatever else is ours the recovery finds gone."""
        if advisory.is_of_gone_message or known_events(conn, {_buried(advisory.origin)}):
            return
        row = next((row for row in find_published(conn) if row.sequence == advisory.sequence), None)
        if row is None:
            letter = _unknown(message, TERMINATED)
        else:
            letter = Letter(
                kind=LetterKind.COMMAND,
                owner_id=row.owner_id,
                subject=row.subject,
                headers=message_of(row, SOURCE).headers,
                body=row.body,
                message_id=_name_of(message),
                error=TERMINATED,
            )
        bury(conn, [letter], self.around)

    async def _exhausted(self, advisory: Advisory) -> None:
        """Answer the command as a crash and take its message away; should we fall in between, this is read again."""
        message = await self.streams.message_at(Stream.COMMANDS, advisory.sequence)
        if message is None or (message.stored_at is not None and message.stored_at > advisory.at):
            return  # another message has this place: the stream is not the one that the broker spoke of
        await self.database.write(lambda conn: self._answer(conn, message, advisory))
        await self.streams.delete(Stream.COMMANDS, advisory.sequence)

    def _answer(self, conn: Connection, message: StoredMessage, advisory: Advisory) -> None:
        """An owner with an event's letter stays as it is: once that is settled, the recovery finds its message gone."""
        self.guard(conn)
        command_id = sender_of(message.headers).command_id
        owner_id = "" if command_id is None else CommandId.parse(command_id).owner
        rows = [row for row in find_commands(conn, {owner_id}) if _is_message_of(message, row)]
        log.warning("projector.command.exhausted", command=command_id, deliveries=advisory.deliveries)
        if not rows and owner_id not in tenants_of(conn, {owner_id}):
            bury(conn, [_unknown(message, EXHAUSTED.format(deliveries=advisory.deliveries))], self.around)
        elif not stuck_owners(conn, {owner_id}):
            interrupt_commands(conn, rows, self.around)


def _is_message_of(message: StoredMessage, row: OutboxCommand) -> bool:
    return message.message_id == command_message_id(row.command_id, row.publication)


def _unknown(message: StoredMessage, error: str) -> Letter:
    """A message of which it cannot be told whose it is."""
    return Letter(
        kind=LetterKind.COMMAND,
        owner_id="",
        subject=message.subject,
        headers=message.headers,
        body=message.body,
        message_id=_name_of(message),
        error=error,
    )


def _name_of(message: StoredMessage) -> str:
    """By which a message without an id of its own is known again."""
    digest = hashlib.sha256(message.body).hexdigest()[:16]
    return f"letter.{message.subject}.{message.sequence}.{digest}"


def _buried(origin: str) -> EventId:
    """The inbox knows by this that a worker has buried a message."""
    return EventId(f"buried.{origin}")
