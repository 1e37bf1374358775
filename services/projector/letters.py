"""Dead letters: messages that could not be read or applied, kept with the reason until an operator decides."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog
from sqlalchemy import Connection

from shared.contracts.enums import LetterKind
from shared.contracts.ids import EventId, LetterId, TenantId
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.inbox import known_events, remember_events
from shared.database.operations import load_operations
from shared.database.purges import load_purges
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import sender_of
from shared.messaging.stream_state import StoredMessage

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message and what was wrong with it."""

    kind: LetterKind
    owner_id: str
    """"": it cannot be told whose it is."""
    subject: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes
    message_id: str | None
    """It is kept once, however often it is met. None: it cannot be told from another."""
    error: str


def letter_of_event(message: StoredMessage, error: str) -> Letter:
    """An event that could not be read or applied."""
    return Letter(
        kind=LetterKind.EVENT,
        owner_id=message.subject.rsplit(".", 1)[-1],
        subject=message.subject,
        headers=message.headers,
        body=message.body,
        message_id=message.message_id,
        error=error,
    )


def bury(conn: Connection, letters: Sequence[Letter], around: Surroundings) -> None:
    """Keep the letters, each once.

    Commands of an owner with an event's letter are not published again until it is settled.
    """
    fresh = _fresh(conn, letters)
    if not fresh:
        return
    now = around.clock()
    remember_events(conn, _message_ids(fresh), now)
    tenants = tenants_of(conn, {letter.owner_id for letter in fresh})
    insert_dead_letters(
        conn,
        [
            DeadLetter(
                id=LetterId(around.new_id("ltr")),
                tenant_id=tenants.get(letter.owner_id, sender_of(letter.headers).tenant_id),
                kind=letter.kind,
                owner_id=letter.owner_id,
                subject=letter.subject,
                headers=letter.headers,
                body=letter.body,
                message_id=letter.message_id,
                error=letter.error,
                created_at=now,
            )
            for letter in fresh
        ],
    )
    for letter in fresh:
        log.error("projector.letter.buried", kind=letter.kind.value, subject=letter.subject, error=letter.error)


def _fresh(conn: Connection, letters: Sequence[Letter]) -> list[Letter]:
    """Those that are not kept already, each once."""
    letters = [_storable(letter) for letter in letters]
    known = set(known_events(conn, _message_ids(letters)))
    fresh = []
    for letter in letters:
        if letter.message_id is None:
            fresh.append(letter)
        elif letter.message_id not in known:
            known.add(EventId(letter.message_id))
            fresh.append(letter)
    return fresh


def _message_ids(letters: Iterable[Letter]) -> set[EventId]:
    return {EventId(letter.message_id) for letter in letters if letter.message_id is not None}


def _storable(letter: Letter) -> Letter:
    """The letter without what no database keeps: whoever wrote it may have put anything into its headers."""
    return replace(
        letter,
        owner_id=_text(letter.owner_id),
        subject=_text(letter.subject),
        headers={_text(name): _text(value) for name, value in letter.headers.items()},
        message_id=None if letter.message_id is None else _text(letter.message_id),
        error=_text(letter.error),
    )


def _text(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def tenants_of(conn: Connection, owner_ids: Collection[str]) -> dict[str, TenantId]:
    """Whose the operations and purges are: that decides, for a header may have been written by anyone."""
    purges = {purge.id: purge.tenant_id for purge in load_purges(conn, owner_ids).values()}
    operations = {operation.id: operation.tenant_id for operation in load_operations(conn, owner_ids).values()}
    return {str(owner_id): tenant_id for owner_id, tenant_id in (purges | operations).items()}
