"""Reconciliations: ask for one, list, look at one. The projector carries them out."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.admin.operating_views import reconciliation_body
from services.api.admin.replays import may_manage
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, found, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.paging import page_query
from shared.contracts.enums import Action
from shared.contracts.ids import ReconciliationId
from shared.contracts.operating import (
    RECONCILIATION_CREATE,
    RECONCILIATION_GET,
    RECONCILIATION_LIST,
    ReconciliationList,
    ReconciliationRequest,
)
from shared.contracts.paging import ListQuery
from shared.contracts.route import Route
from shared.database.reconciliations import page_of_reconciliations
from shared.domain.authorization import require_action
from shared.lifecycle.reconciliations import (
    request_reconciliation,
    require_reconciliation,
    sees_reconciliations_of_all,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciliationRoutes:
    """Comparisons of what the gateway knows with what provider and object store hold."""

    moves: Moves
    trail: AuditTrail
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {
            RECONCILIATION_CREATE: self.create,
            RECONCILIATION_LIST: self.list,
            RECONCILIATION_GET: self.get,
        }

    async def create(self, call: Call) -> Answer:
        """Ask for one; looking at it tells when it has ended, and what it has found."""
        body = await call.read(ReconciliationRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: request_reconciliation(
                conn, applies=body.apply, request=request, around=self.moves.around
            ),
            needs_broker=False,
            view=lambda done: reconciliation_body(done.kept),
            reauthorise=may_manage(call, Action.MANAGE_OPERATIONS, self.moves.roles),
        )

    async def list(self, call: Call) -> Answer:
        """One page of them, without what they have found."""
        require_action(call.caller, Action.MANAGE_OPERATIONS, self.moves.roles)
        of_all = sees_reconciliations_of_all(call.caller, self.moves.roles)
        query = page_query(call, ListQuery, self.most_items)
        listed, total = await self.moves.database.read(
            lambda conn: page_of_reconciliations(
                conn, call.caller.tenant, of_all=of_all, page=query.page, page_size=query.page_size
            )
        )
        await self.trail.read(call, None, None, {"page": query.page, "reconciliations": len(listed)})
        return page_of(ReconciliationList(items=tuple(reconciliation_body(one) for one in listed)), query, total)

    async def get(self, call: Call) -> Answer:
        """One of them with what it has found."""
        reconciliation_id = call.id("reconciliationId", ReconciliationId)
        one = await self.moves.database.read(
            lambda conn: require_reconciliation(conn, reconciliation_id, call.caller, self.moves.roles)
        )
        await self.trail.read(call, None, reconciliation_id, {})
        return found(reconciliation_body(one))
