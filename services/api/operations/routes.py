"""Operations: get, which is asked far more often than anything else."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.operations.views import polled_operation
from shared.contracts.enums import Action
from shared.contracts.ids import OperationId
from shared.contracts.route import Route
from shared.contracts.routes import OPERATION_GET
from shared.database.listings import visible_operation
from shared.database.quick_reads import QuickReads
from shared.domain.authorization import RoleTable, reach
from shared.domain.errors import OperationNotFound
from shared.telemetry.stamps import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRoutes:
    """Operations."""

    reads: QuickReads
    roles: RoleTable
    clock: Clock

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {OPERATION_GET: self.get}

    async def get(self, call: Call) -> Answer:
        """One operation, also of something that is gone by now."""
        reached = reach(call.caller, Action.RESOURCE_VIEW, self.roles)
        operation_id = call.id("operationId", OperationId)
        operation = await self.reads.read(lambda conn: visible_operation(conn, reached, operation_id))
        if operation is None:
            raise OperationNotFound
        return Answer(status=OPERATION_GET.success_status, content=polled_operation(operation, self.clock()))
