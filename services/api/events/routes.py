"""Events: follow, the only route that does not end by itself."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.responses import Response

from services.api.edge.call import Call, Handler
from services.api.edge.identity import Authenticates, identify
from services.api.events.following import Following
from services.api.events.heads import ChainWatch
from services.api.events.places import Places
from services.api.events.stream import EventStream
from shared.contracts.enums import Action, ResourceType
from shared.contracts.errors import invalid
from shared.contracts.ids import TenantId
from shared.contracts.route import Route
from shared.contracts.transition_events import EVENTS_FOLLOW, LAST_EVENT_ID, EventsQuery
from shared.database.audit_chain import EMPTY, chain_heads
from shared.database.database import Database
from shared.database.transitions import Transition, visible_transitions
from shared.domain.authorization import Reach, RoleTable, allows, reach
from shared.domain.errors import Forbidden
from shared.domain.identity import Caller

AFTER: Final = "$.after"

TOLD: Final[Mapping[Action, frozenset[ResourceType]]] = {
    Action.SPACE_VIEW: frozenset({ResourceType.SPACE}),
    Action.DOCUMENT_VIEW: frozenset({ResourceType.DOCUMENT, ResourceType.VERSION, ResourceType.OPERATION}),
}
"""What a caller is told of who may do an action."""

_PLACE: Final = re.compile(r"0|[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRoutes:
    """The stream of transitions."""

    database: Database
    authenticator: Authenticates
    roles: RoleTable
    heads: ChainWatch
    places: Places

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {EVENTS_FOLLOW: self.follow}

    async def follow(self, call: Call) -> Response:
        """Everything that happens, from where the caller wants it on, as far as the caller may see it."""
        field, wanted = _wanted(call)
        self._may_be_told(call.caller)
        head = await self._head(call.caller.tenant)
        if wanted is not None and wanted > head:
            raise invalid(field, "OUT_OF_RANGE", "No event of this number has happened yet")

        async def who() -> Caller:
            return await identify(call.headers, self.authenticator)

        following = Following(identify=who, read=self._read, heads=self.heads)
        tenant = call.caller.tenant
        self.places.take(tenant)
        pieces = following.pieces(head if wanted is None else wanted, head)
        return EventStream(pieces, on_end=partial(self.places.leave, tenant))

    async def _head(self, tenant: TenantId) -> int:
        heads = await self.database.read(lambda conn: chain_heads(conn, {tenant}))
        return heads.get(tenant, EMPTY).seq

    async def _read(self, caller: Caller, after: int, until: int) -> Sequence[Transition]:
        reached, types = self._may_be_told(caller)
        return await self.database.read(
            lambda conn: visible_transitions(conn, reached, types, after=after, until=until)
        )

    def _may_be_told(self, caller: Caller) -> tuple[Reach, frozenset[ResourceType]]:
        """How far the caller reaches, and of what they are told there; Forbidden when it is nothing at all."""
        actions = [action for action in TOLD if allows(caller, action, self.roles)]
        if not actions:
            raise Forbidden("None of your roles allows SPACE_VIEW or DOCUMENT_VIEW.")
        return reach(caller, actions[0], self.roles), frozenset().union(*(TOLD[action] for action in actions))


def _wanted(call: Call) -> tuple[str, int | None]:
    """Behind which event the caller wants to begin, and where that was said; RequestRefused when it is no number."""
    query = call.query(EventsQuery)
    given = call.headers.get(LAST_EVENT_ID.lower())
    if given is None:
        return AFTER, query.after
    if _PLACE.fullmatch(given) is None:
        raise invalid(LAST_EVENT_ID, "INVALID", "Must be the id of an event of this stream")
    return LAST_EVENT_ID, int(given)
