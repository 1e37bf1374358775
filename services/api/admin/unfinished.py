"""Operations of the tenant that have not ended: list, explain, and end by force."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from services.api.admin.operating_views import unfinished_body
from services.api.audit.trail import AuditTrail
from services.api.broker.workers import WorkerLook
from services.api.edge.answers import Answer, found, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.operations.views import operation_body
from services.api.paging import page_query
from shared.contracts.enums import Action, ResourceType
from shared.contracts.ids import OperationId
from shared.contracts.operating import (
    OPERATION_FAIL,
    UNFINISHED_GET,
    UNFINISHED_LIST,
    UnfinishedList,
    UnfinishedOperation,
    UnfinishedQuery,
)
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.route import Route
from shared.database.unfinished import look_into, page_of_unfinished
from shared.domain.authorization import Reach, reach
from shared.domain.errors import OperationNotFound
from shared.domain.unfinished import Unfinished, explain, is_overdue
from shared.lifecycle.fail_operation import fail_operation
from shared.lifecycle.managed import require_managed_operation
from shared.lifecycle.once import Reauthorise

EVER: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Every operation has been still since before then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRoutes:
    """Work that has not ended. Seeing and ending it takes its security domain, and no grant."""

    moves: Moves
    trail: AuditTrail
    most_items: int
    look: WorkerLook

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {UNFINISHED_LIST: self.list, UNFINISHED_GET: self.get, OPERATION_FAIL: self.fail}

    async def list(self, call: Call) -> Answer:
        """One page of what has not ended, with the reasons."""
        reached = reach(call.caller, Action.MANAGE_OPERATIONS, self.moves.roles)
        query = page_query(call, UnfinishedQuery, self.most_items)
        now, after = self.moves.around.clock(), self._overdue_after(query)
        found, total = await self.moves.database.read(
            lambda conn: _page(conn, reached, query, now - after if query.overdue else EVER)
        )
        items = tuple(self._told(unfinished, now, after) for unfinished in found)
        await self.trail.read(call, None, None, {"page": query.page, "operations": len(items)})
        return page_of(UnfinishedList(items=items), query, total)

    async def get(self, call: Call) -> Answer:
        """Why one operation has not ended."""
        reached = reach(call.caller, Action.MANAGE_OPERATIONS, self.moves.roles)
        operation_id = call.id("operationId", OperationId)
        unfinished = await self.moves.database.read(lambda conn: _one(conn, reached, operation_id))
        await self.trail.read(call, ResourceType.OPERATION, operation_id, {})
        now = self.moves.around.clock()
        return found(self._told(unfinished, now, self.moves.around.settings.overdue_after))

    async def fail(self, call: Call) -> Answer:
        """End an operation, whatever it waits for."""
        operation_id = call.id("operationId", OperationId)
        body = await call.read(OperationReasonRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: fail_operation(conn, operation_id, body, request, self.moves.around),
            needs_broker=False,
            view=lambda settled: operation_body(settled.operation, self.moves.around.clock()),
            reauthorise=self._still_managed(call, operation_id),
        )

    def _overdue_after(self, query: UnfinishedQuery) -> timedelta:
        if query.older_than_seconds is None:
            return self.moves.around.settings.overdue_after
        return timedelta(seconds=query.older_than_seconds)

    def _told(self, unfinished: Unfinished, now: datetime, after: timedelta) -> UnfinishedOperation:
        explanation = explain(unfinished, self.look.workers(), now, self.look.patience)
        operation = unfinished.operation
        return unfinished_body(operation, explanation, now, overdue=is_overdue(operation, now, after))

    def _still_managed(self, call: Call, operation_id: OperationId) -> Reauthorise:
        def reauthorise(conn: Connection, content: str) -> None:
            reached = reach(call.caller, Action.MANAGE_OPERATIONS, self.moves.roles)
            require_managed_operation(conn, reached, operation_id)

        return reauthorise


def _page(
    conn: Connection, reached: Reach, query: UnfinishedQuery, still_before: datetime
) -> tuple[Sequence[Unfinished], int]:
    operations, total = page_of_unfinished(
        conn, reached, still_before=still_before, page=query.page, page_size=query.page_size
    )
    return look_into(conn, operations), total


def _one(conn: Connection, reached: Reach, operation_id: OperationId) -> Unfinished:
    operation = require_managed_operation(conn, reached, operation_id)
    if operation.is_over:
        raise OperationNotFound(f"The operation has ended, as {operation.status.value}: there is nothing to explain.")
    (unfinished,) = look_into(conn, [operation])
    return unfinished
