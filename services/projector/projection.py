"""Applies the events stream in order: one transaction a batch, with the position in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from services.projector.letters import Letter, bury, letter_of_event
from services.projector.reading import Reading
from shared.database.errors import LeaseLost
from shared.domain.errors import StoreUnavailable
from shared.lifecycle.apply_events import Applied, ReceivedEvent, apply_events
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import SCHEMA, TRACEPARENT, Schema, read_event
from shared.messaging.errors import NewerMessage, UnreadableMessage
from shared.messaging.stream_state import StoredMessage

FAILURES_OF_ITS_OWN = 3
"""So often an event may fail when it is applied alone; then it is a dead letter."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Applies what a reading of the events stream brings."""

    reading: Reading
    around: Surroundings
    on_applied: Callable[[Applied], None]
    schema: Schema = SCHEMA
    """What this release can read."""

    async def run(self) -> None:
        """Project until cancelled, LeaseLost, or NewerMessage: what a newer release wrote is left to one.

        What is away for a while is waited for.
        """
        await self.reading.run(self._apply)

    async def _apply(self, batch: Sequence[StoredMessage]) -> None:
        """The whole batch, or, when it fails, each event alone."""
        try:
            await self._apply_together(batch)
        except (StoreUnavailable, LeaseLost, NewerMessage):
            raise
        except Exception:
            log.exception("projector.batch.failed", events=len(batch), sequence=batch[-1].sequence)
            for message in batch:
                await self._apply_alone(message)

    async def _apply_together(self, batch: Sequence[StoredMessage]) -> None:
        """All of them; when one is of a newer release, those before it, and then NewerMessage is raised."""
        read = _read(batch, self.schema)
        if read.messages:

            def apply(conn: Connection) -> Applied:
                bury(conn, read.letters, self.around)
                return apply_events(conn, read.events, self.around)

            self.on_applied(await self.reading.write(read.messages[-1], apply))
        if read.newer is not None:
            raise read.newer

    async def _apply_alone(self, message: StoredMessage) -> None:
        """An event that fails by itself again and again must not hold up the rest."""
        error: Exception | None = None
        for failures in range(1, FAILURES_OF_ITS_OWN + 1):
            try:
                await self._apply_together([message])
            except (StoreUnavailable, LeaseLost, NewerMessage):
                raise
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is this event's, and it is kept
                error = failure
                log.warning("projector.event.failed", subject=message.subject, failures=failures, error=repr(failure))
            else:
                return
        letter = letter_of_event(message, repr(error))
        await self.reading.write(message, lambda conn: bury(conn, [letter], self.around))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """How far a batch could be read, and what it holds up to there."""

    messages: Sequence[StoredMessage]
    events: Sequence[ReceivedEvent]
    letters: Sequence[Letter]
    newer: NewerMessage | None


def _read(batch: Sequence[StoredMessage], schema: Schema) -> _Read:
    events: list[ReceivedEvent] = []
    letters: list[Letter] = []
    for place, message in enumerate(batch):
        try:
            event = read_event(message.body, message.headers, schema)
        except NewerMessage as newer:
            return _Read(messages=batch[:place], events=events, letters=letters, newer=newer)
        except UnreadableMessage as error:
            letters.append(letter_of_event(message, error.message))
        else:
            events.append(ReceivedEvent(event, message.headers.get(TRACEPARENT)))
    return _Read(messages=batch, events=events, letters=letters, newer=None)
