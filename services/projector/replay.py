"""Applies dead letters again when an operator has asked for it."""

from collections.abc import Callable
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from shared.contracts.enums import LetterKind
from shared.database.database import Database
from shared.database.dead_letters import DeadLetter, replaying_letters
from shared.domain.errors import KnowgateError, LetterSettled, NotReplayable, Transient
from shared.lifecycle.apply_events import Applied, ReceivedEvent
from shared.lifecycle.apply_letter import apply_letter, reopen_letter
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import SCHEMA, TRACEPARENT, Schema, read_event

PIECE = 100
"""Letters that one look takes up."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Runs under the lease: each letter in a transaction of its own, the oldest first."""

    database: Database
    around: Surroundings
    guard: Callable[[Connection], None]
    on_applied: Callable[[Applied], None]
    schema: Schema = SCHEMA

    async def round(self) -> None:
        """Take up what is to be applied again."""
        for letter in await self.database.read(lambda conn: replaying_letters(conn, limit=PIECE)):
            await self._replay(letter)

    async def _replay(self, letter: DeadLetter) -> None:
        """What fails is the operator's again, with the new reason. What is away for a while is tried again later."""
        try:
            applied = await self.database.write(lambda conn: self._apply(conn, letter))
        except Transient:
            raise
        except LetterSettled:
            log.info("projector.letter.settled_meanwhile", letter=letter.id)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this letter's, and it is kept
            reason = error.message if isinstance(error, KnowgateError) else repr(error)
            log.warning("projector.letter.reopened", letter=letter.id, error=reason)
            await self.database.write(lambda conn: self._reopen(conn, letter, reason))
        else:
            log.info("projector.letter.replayed", letter=letter.id, applied=applied.applied, skipped=applied.skipped)
            self.on_applied(applied)

    def _apply(self, conn: Connection, letter: DeadLetter) -> Applied:
        self.guard(conn)
        if letter.kind is not LetterKind.EVENT:
            raise NotReplayable
        event = read_event(letter.body, letter.headers, self.schema)
        return apply_letter(conn, letter, ReceivedEvent(event, letter.headers.get(TRACEPARENT)), self.around)

    def _reopen(self, conn: Connection, letter: DeadLetter, reason: str) -> None:
        self.guard(conn)
        reopen_letter(conn, letter, reason, self.around)
