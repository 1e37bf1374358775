"""Grants of a space and of its documents: list, add, take back."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from services.api.admin.views import grant_body
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Move, Moves
from services.api.paging import page_query
from services.api.replays import may_manage_space
from shared.contracts.admin import GRANT_ADD, GRANT_LIST, GRANT_REVOKE, GrantList, GrantRequest
from shared.contracts.enums import Action, ResourceType
from shared.contracts.ids import SpaceId
from shared.contracts.paging import ListQuery
from shared.contracts.route import Route
from shared.database.grants import Grant, page_of_grants
from shared.domain.authorization import Principal, Reach, reach
from shared.lifecycle.administering import Administered
from shared.lifecycle.grant_access import grant_access
from shared.lifecycle.managed import require_managed_space
from shared.lifecycle.revoke_access import revoke_access


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRoutes:
    """Who may act on a space. Managing that takes its security domain, and no grant."""

    moves: Moves
    trail: AuditTrail
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {GRANT_LIST: self.list, GRANT_ADD: self.add, GRANT_REVOKE: self.revoke}

    async def list(self, call: Call) -> Answer:
        """One page of the grants on a space and on documents of it."""
        reached = reach(call.caller, Action.MANAGE_ACCESS, self.moves.roles)
        space_id = call.id("spaceId", SpaceId)
        query = page_query(call, ListQuery, self.most_items)
        grants, total = await self.moves.database.read(lambda conn: _page(conn, reached, space_id, query))
        await self.trail.read(call, ResourceType.SPACE, space_id, {"page": query.page, "grants": len(grants)})
        return page_of(GrantList(items=tuple(grant_body(grant) for grant in grants)), query, total)

    async def add(self, call: Call) -> Answer:
        """Grant."""
        space_id = call.id("spaceId", SpaceId)
        body = await call.read(GrantRequest)
        principal, around = _principal(body), self.moves.around
        return await self._change(
            call,
            body,
            lambda conn, request: grant_access(conn, space_id, body.document_id, principal, request, around),
        )

    async def revoke(self, call: Call) -> Answer:
        """Take a grant back."""
        space_id = call.id("spaceId", SpaceId)
        body = await call.read(GrantRequest)
        principal, around = _principal(body), self.moves.around
        return await self._change(
            call,
            body,
            lambda conn, request: revoke_access(conn, space_id, body.document_id, principal, request, around),
        )

    async def _change(self, call: Call, body: GrantRequest, move: Move[Administered[Grant]]) -> Answer:
        return await self.moves.accept(
            call,
            body,
            move,
            needs_broker=False,
            view=lambda done: grant_body(done.kept),
            reauthorise=may_manage_space(call, Action.MANAGE_ACCESS, self.moves.roles),
        )


def _principal(body: GrantRequest) -> Principal:
    return Principal(body.principal.kind, body.principal.name)


def _page(conn: Connection, reached: Reach, space_id: SpaceId, query: ListQuery) -> tuple[list[Grant], int]:
    require_managed_space(conn, reached, space_id)
    return page_of_grants(conn, reached.tenant_id, space_id, page=query.page, page_size=query.page_size)
