"""Revocations: list, create. They end by themselves, when nothing is left that they could refuse."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.admin.replays import may_manage
from services.api.admin.views import revocation_body
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.paging import page_query
from shared.contracts.admin import REVOCATION_CREATE, REVOCATION_LIST, RevocationList, RevocationRequest
from shared.contracts.enums import Action
from shared.contracts.paging import ListQuery
from shared.contracts.route import Route
from shared.database.revocations import list_revocations
from shared.domain.authorization import require_action
from shared.lifecycle.revoke_assertions import revoke_assertions


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationRoutes:
    """Assertions that are refused although their signature is good."""

    moves: Moves
    trail: AuditTrail
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {REVOCATION_LIST: self.list, REVOCATION_CREATE: self.create}

    async def list(self, call: Call) -> Answer:
        """One page of what is revoked."""
        require_action(call.caller, Action.MANAGE_ACCESS, self.moves.roles)
        query = page_query(call, ListQuery, self.most_items)
        revocations, total = await self.moves.database.read(
            lambda conn: list_revocations(conn, call.caller.tenant, page=query.page, page_size=query.page_size)
        )
        await self.trail.read(call, None, None, {"page": query.page, "revocations": len(revocations)})
        return page_of(RevocationList(items=tuple(revocation_body(one) for one in revocations)), query, total)

    async def create(self, call: Call) -> Answer:
        """Refuse what was issued until now."""
        body = await call.read(RevocationRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: revoke_assertions(conn, body.kind, body.value, request, self.moves.around),
            needs_broker=False,
            view=lambda done: revocation_body(done.kept),
            reauthorise=may_manage(call, Action.MANAGE_ACCESS, self.moves.roles),
        )
