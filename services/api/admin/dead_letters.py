"""Dead letters: list, look at one, replay, discard."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from services.api.admin.operating_views import full_letter_body, letter_body
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, found, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Move, Moves
from services.api.paging import page_query
from shared.contracts.enums import Action
from shared.contracts.ids import LetterId
from shared.contracts.operating import (
    LETTER_DISCARD,
    LETTER_GET,
    LETTER_LIST,
    LETTER_REPLAY,
    DeadLetterList,
    LetterQuery,
)
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.route import Route
from shared.database.dead_letters import DeadLetter, page_of_letters
from shared.domain.authorization import reach
from shared.lifecycle.administering import Administered
from shared.lifecycle.dead_letters import discard_letter, replay_letter, require_letter, settles_letters_of_none


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterRoutes:
    """Messages that could not be read or applied, until an operator decides."""

    moves: Moves
    trail: AuditTrail
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {
            LETTER_LIST: self.list,
            LETTER_GET: self.get,
            LETTER_REPLAY: self.replay,
            LETTER_DISCARD: self.discard,
        }

    async def list(self, call: Call) -> Answer:
        """One page of the letters in one status."""
        reached = reach(call.caller, Action.MANAGE_OPERATIONS, self.moves.roles)
        of_none = settles_letters_of_none(call.caller, self.moves.roles)
        query = page_query(call, LetterQuery, self.most_items)
        letters, total = await self.moves.database.read(
            lambda conn: page_of_letters(
                conn, reached, query.status, of_none=of_none, page=query.page, page_size=query.page_size
            )
        )
        await self.trail.read(call, None, None, {"page": query.page, "letters": len(letters)})
        return page_of(DeadLetterList(items=tuple(letter_body(letter) for letter in letters)), query, total)

    async def get(self, call: Call) -> Answer:
        """One letter with its message."""
        letter_id = call.id("letterId", LetterId)
        letter = await self.moves.database.read(
            lambda conn: require_letter(conn, letter_id, call.caller, self.moves.roles)
        )
        await self.trail.read(call, None, letter_id, {})
        return found(full_letter_body(letter))

    async def replay(self, call: Call) -> Answer:
        """Have an event applied again."""
        letter_id = call.id("letterId", LetterId)
        body = await call.read(OperationReasonRequest)
        return await self._change(
            call,
            letter_id,
            body,
            lambda conn, request: replay_letter(conn, letter_id, body.reason, request, self.moves.around),
        )

    async def discard(self, call: Call) -> Answer:
        """Give a letter up."""
        letter_id = call.id("letterId", LetterId)
        body = await call.read(OperationReasonRequest)
        return await self._change(
            call,
            letter_id,
            body,
            lambda conn, request: discard_letter(conn, letter_id, body.reason, request, self.moves.around),
        )

    async def _change(
        self, call: Call, letter_id: LetterId, body: OperationReasonRequest, move: Move[Administered[DeadLetter]]
    ) -> Answer:
        def reauthorise(conn: Connection, content: str) -> None:
            require_letter(conn, letter_id, call.caller, self.moves.roles)

        return await self.moves.accept(
            call,
            body,
            move,
            needs_broker=False,
            view=lambda done: letter_body(done.kept),
            reauthorise=reauthorise,
        )
