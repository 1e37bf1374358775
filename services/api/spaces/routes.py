"""Spaces: create, get, list, update, delete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from services.api.edge.answers import Answer, found, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.paging import AFTER_NOTHING, page_query
from services.api.replays import may_act_on_space
from services.api.spaces.views import space_accepted, space_body, space_created, space_updated
from shared.contracts.commands import ProviderProfile
from shared.contracts.enums import Action, Step
from shared.contracts.ids import SpaceId
from shared.contracts.paging import SpaceListQuery
from shared.contracts.route import Route
from shared.contracts.routes import SPACE_CREATE, SPACE_DELETE, SPACE_GET, SPACE_LIST, SPACE_UPDATE
from shared.contracts.spaces import SpaceCreateRequest, SpaceDeleteRequest, SpaceList, SpaceUpdateRequest
from shared.database.listings import list_spaces, visible_space
from shared.database.reached import is_space_in_reach
from shared.domain.authorization import Reach, reach, require_domain
from shared.domain.errors import SpaceNotFound
from shared.domain.space import Space
from shared.lifecycle.create_space import create_space
from shared.lifecycle.delete_space import delete_space
from shared.lifecycle.update_space import update_space


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRoutes:
    """Knowledge spaces."""

    moves: Moves
    profile: ProviderProfile
    """How new spaces are kept."""
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {
            SPACE_CREATE: self.create,
            SPACE_GET: self.get,
            SPACE_LIST: self.list,
            SPACE_UPDATE: self.update,
            SPACE_DELETE: self.delete,
        }

    async def create(self, call: Call) -> Answer:
        """Take a new space on; it is CREATING until its provider side is there."""
        body = await call.read(SpaceCreateRequest)

        def reauthorise(conn: Connection, content: str) -> None:
            """A space that is gone by now was still made by this request."""
            reach(call.caller, Action.SPACE_CREATE, self.moves.roles)
            require_domain(call.caller, body.default_security_domain_code)

        return await self.moves.accept(
            call,
            body,
            lambda conn, request: create_space(conn, body, self.profile, request, self.moves.around),
            first_step=Step.PROVISION,
            view=lambda accepted: space_created(accepted.work.space),
            reauthorise=reauthorise,
        )

    async def update(self, call: Call) -> Answer:
        """Rename or describe a space."""
        space_id = call.id("spaceId", SpaceId)
        body = await call.read(SpaceUpdateRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: update_space(conn, space_id, body, request, self.moves.around),
            needs_broker=False,
            view=lambda settled: space_updated(settled.space),
            reauthorise=may_act_on_space(call, Action.SPACE_UPDATE, self.moves.roles),
        )

    async def delete(self, call: Call) -> Answer:
        """Take the end of an empty space on."""
        space_id = call.id("spaceId", SpaceId)
        body = await call.read(SpaceDeleteRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: delete_space(conn, space_id, body, request, self.moves.around),
            first_step=Step.REMOVE,
            view=lambda accepted: space_accepted(accepted.work),
            reauthorise=may_act_on_space(call, Action.SPACE_DELETE, self.moves.roles),
        )

    async def get(self, call: Call) -> Answer:
        """One space."""
        reached = reach(call.caller, Action.SPACE_VIEW, self.moves.roles)
        space_id = call.id("spaceId", SpaceId)
        space = await self.moves.database.read(lambda conn: visible_space(conn, reached, space_id))
        if space is None:
            raise SpaceNotFound
        return found(space_body(space))

    async def list(self, call: Call) -> Answer:
        """One page of the spaces that the caller may see."""
        reached = reach(call.caller, Action.SPACE_VIEW, self.moves.roles)
        query = page_query(call, SpaceListQuery, self.most_items)
        spaces, total = await self.moves.database.read(lambda conn: self._page(conn, reached, query))
        return page_of(SpaceList(items=tuple(space_body(space) for space in spaces)), query, total)

    def _page(self, conn: Connection, reached: Reach, query: SpaceListQuery) -> tuple[Sequence[Space], int]:
        if query.after is not None and not is_space_in_reach(conn, reached, query.after):
            raise SpaceNotFound(faults=(AFTER_NOTHING,))
        return list_spaces(conn, reached, page=query.page, page_size=query.page_size, after=query.after)
