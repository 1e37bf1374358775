"""Dead letters: events that could not be read or applied, kept with the reason until an operator decides."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from shared.contracts.ids import EventId
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.inbox import known_events, remember_events
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.stream_state import StoredMessage

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message and what was wrong with it."""

    message: StoredMessage
    error: str


def bury(conn: Connection, letters: Sequence[Letter], around: Surroundings) -> None:
    """Keep the letters, each once. Commands of an owner with a letter are not published again until it is settled."""
    now = around.clock()
    ids = {letter.message.message_id for letter in letters if letter.message.message_id is not None}
    known = known_events(conn, {EventId(message_id) for message_id in ids})
    letters = [letter for letter in letters if letter.message.message_id not in known]
    remember_events(conn, {EventId(message_id) for message_id in ids} - known, now)
    insert_dead_letters(
        conn,
        [
            DeadLetter(
                id=around.new_id("ltr"),
                kind="event",
                owner_id=letter.message.subject.rsplit(".", 1)[-1],
                subject=letter.message.subject,
                body=letter.message.body,
                error=letter.error,
                created_at=now,
            )
            for letter in letters
        ],
    )
    for letter in letters:
        log.error("projector.event.buried", subject=letter.message.subject, error=letter.error)
