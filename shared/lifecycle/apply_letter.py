"""What becomes of a dead letter that an operator wants applied again: REPLAYED, or OPEN with what is wrong."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import LetterStatus
from shared.contracts.ids import EventId, OperationId
from shared.database.audit import write_entries
from shared.database.dead_letters import DeadLetter, settle_letter
from shared.database.inbox import drop_event, known_events, remember_events
from shared.database.operations import load_operations
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.domain.errors import LetterSettled
from shared.lifecycle.apply_events import Applied, ReceivedEvent, apply_events
from shared.lifecycle.recording import Detail
from shared.lifecycle.surroundings import Surroundings

REPLAYED: Final = "dead-letter.replayed"
REOPENED: Final = "dead-letter.reopened"
"""What the audit calls the two moves."""


def apply_letter(conn: Connection, letter: DeadLetter, received: ReceivedEvent, around: Surroundings) -> Applied:
    """Apply the event of a letter as one that has come late, and settle the letter in the same transaction.

    What was applied since it was buried stays: an event of a command that is not current any more is Skipped.
    Raises LetterSettled when somebody has settled it meanwhile, and whatever applying it raises.
    """
    now = around.clock()
    _forget(conn, letter)
    applied = apply_events(conn, [received], around)
    _remember(conn, letter, now)
    after = replace(letter, status=LetterStatus.REPLAYED, settled_at=now)
    details: dict[str, Detail] = {"applied": applied.applied, "skipped": applied.skipped, "known": applied.known}
    _settle(conn, letter, after, REPLAYED, Outcome.DONE, details, around, now)
    return applied


def reopen_letter(conn: Connection, letter: DeadLetter, error: str, around: Surroundings) -> None:
    """Leave a letter that could not be applied again to the operator, with what was wrong this time."""
    after = replace(letter, status=LetterStatus.OPEN, error=error, settled_by=None)
    _settle(conn, letter, after, REOPENED, Outcome.REFUSED, {"error": error}, around, around.clock())


def _forget(conn: Connection, letter: DeadLetter) -> None:
    """The inbox knows the event as buried, and would drop it."""
    if letter.message_id is not None:
        drop_event(conn, EventId(letter.message_id))


def _remember(conn: Connection, letter: DeadLetter, now: datetime) -> None:
    """The message may have had another id than its event: neither is to be taken again."""
    if letter.message_id is not None and not known_events(conn, {EventId(letter.message_id)}):
        remember_events(conn, {EventId(letter.message_id)}, now)


def _settle(
    conn: Connection,
    before: DeadLetter,
    after: DeadLetter,
    action: str,
    outcome: Outcome,
    details: Mapping[str, Detail],
    around: Surroundings,
    now: datetime,
) -> None:
    if not settle_letter(conn, after, was=before.status):
        raise LetterSettled
    is_of_operation = before.owner_id in load_operations(conn, {before.owner_id})
    write_entries(
        conn,
        [
            AuditEntry(
                id=around.new_id("aud"),
                tenant_id=before.tenant_id,
                at=now,
                origin=Origin(actor=Actor.PROJECTOR),
                action=action,
                outcome=outcome,
                resource_id=before.id,
                operation_id=OperationId(before.owner_id) if is_of_operation else None,
                before=before.status.value,
                after=after.status.value,
                details={"owner": before.owner_id, "subject": before.subject, **details},
            )
        ],
    )
