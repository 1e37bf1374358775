"""What an operator makes of dead letters: applied again by the projector, or given up."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action, LetterKind, LetterStatus
from shared.contracts.ids import LetterId
from shared.database.dead_letters import DeadLetter, managed_letter, settle_letter, unsettled_letters
from shared.database.locking import Lock
from shared.domain.authorization import RoleTable, allows, reach
from shared.domain.errors import LetterNotFound, LetterSettled, NotReplayable
from shared.domain.identity import Caller
from shared.lifecycle.administering import Administered
from shared.lifecycle.recording import Detail, reason_details
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told

REPLAYED: Final = "DEAD_LETTER_REPLAY"
DISCARDED: Final = "DEAD_LETTER_DISCARD"
"""What the audit calls the two moves."""

DISCARDABLE: Final = frozenset({LetterStatus.OPEN, LetterStatus.REPLAYING})


def settles_letters_of_none(caller: Caller, roles: RoleTable) -> bool:
    """Whether the caller sees and settles the letters that cannot be told to be any tenant's."""
    return allows(caller, Action.MANAGE_SYSTEM, roles)


def require_letter(
    conn: Connection, letter_id: LetterId, caller: Caller, roles: RoleTable, *, lock: Lock = Lock.NONE
) -> DeadLetter:
    """The letter, when it is the caller's to settle."""
    reached = reach(caller, Action.MANAGE_OPERATIONS, roles)
    of_none = settles_letters_of_none(caller, roles)
    letter = managed_letter(conn, reached, letter_id, of_none=of_none, lock=lock)
    if letter is None:
        raise LetterNotFound
    return letter


def replay_letter(
    conn: Connection, letter_id: LetterId, reason: str, request: Request, around: Surroundings
) -> Administered[DeadLetter]:
    """Have the projector apply an event again, at its next turn."""
    letter = require_letter(conn, letter_id, request.caller, request.roles, lock=Lock.UPDATE)
    if letter.kind is not LetterKind.EVENT:
        raise NotReplayable
    if letter.status is not LetterStatus.OPEN:
        raise _settled(letter)
    return _moved(conn, letter, LetterStatus.REPLAYING, REPLAYED, reason, request, around)


def discard_letter(
    conn: Connection, letter_id: LetterId, reason: str, request: Request, around: Surroundings
) -> Administered[DeadLetter]:
    """Give a letter up; what it is about goes on as if the message had never come."""
    letter = require_letter(conn, letter_id, request.caller, request.roles, lock=Lock.UPDATE)
    if letter.status not in DISCARDABLE:
        raise _settled(letter)
    return _moved(conn, letter, LetterStatus.DISCARDED, DISCARDED, reason, request, around)


def discard_letters_of(
    conn: Connection, owner_ids: Collection[str], reason: str, request: Request, around: Surroundings
) -> None:
    """Give up every letter of these operations and purges that is not settled."""
    for letter in unsettled_letters(conn, owner_ids, lock=Lock.UPDATE):
        _moved(conn, letter, LetterStatus.DISCARDED, DISCARDED, reason, request, around)


def _moved(
    conn: Connection,
    letter: DeadLetter,
    then: LetterStatus,
    action: str,
    reason: str,
    request: Request,
    around: Surroundings,
) -> Administered[DeadLetter]:
    now = around.clock()
    after = _with_status(letter, then, request.caller, now)
    if not settle_letter(conn, after, was=letter.status):
        raise _settled(letter)
    details: dict[str, Detail] = {**reason_details(reason), "owner": letter.owner_id, "subject": letter.subject}
    told = Told(action=action, resource_id=letter.id, before=letter.status.value, after=then.value, details=details)
    record_told(conn, told, request, around, now)
    return Administered(kept=after)


def _with_status(letter: DeadLetter, then: LetterStatus, caller: Caller, now: datetime) -> DeadLetter:
    """Who asks for it to be applied again is told of at once; when it is settled, the projector says."""
    is_settled = then is LetterStatus.DISCARDED
    return replace(letter, status=then, settled_at=now if is_settled else None, settled_by=caller.subject)


def _settled(letter: DeadLetter) -> LetterSettled:
    return LetterSettled(f"The dead letter is {letter.status.value}: nothing more can be made of it.")
