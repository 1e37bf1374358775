"""Operations: get, which is asked far more often than anything else."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.edge.identity import Authenticates, identify
from services.api.operations.views import polled_operation
from services.api.operations.watcher import OperationWatch
from shared.contracts.enums import Action
from shared.contracts.ids import OperationId
from shared.contracts.operations import OperationQuery
from shared.contracts.route import Route
from shared.contracts.routes import OPERATION_GET
from shared.database.listings import visible_operation
from shared.database.quick_reads import QuickReads
from shared.domain.authorization import RESOURCE_ACTIONS, RoleTable, reach, require_action
from shared.domain.errors import OperationNotFound
from shared.domain.identity import Caller
from shared.domain.operation import Operation
from shared.telemetry.stamps import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRoutes:
    """Operations."""

    reads: QuickReads
    watch: OperationWatch
    authenticator: Authenticates
    roles: RoleTable
    clock: Clock

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {OPERATION_GET: self.get}

    async def get(self, call: Call) -> Answer:
        """One operation, also of something that is gone by now; when its end is waited for, as it is after that.

        Who waits is authorised again before the answer: a grant, an account or an assertion may be gone by then.
        """
        operation_id = call.id("operationId", OperationId)
        wait = call.query(OperationQuery).wait
        operation = await self._visible(call.caller, operation_id)
        if wait and not operation.is_over:
            await call.unless_gone(self.watch.end_of(operation_id, timedelta(seconds=wait)))
            caller = await identify(call.headers, self.authenticator)
            operation = await self._visible(caller, operation_id)
        return Answer(status=OPERATION_GET.success_status, content=polled_operation(operation, self.clock()))

    async def _visible(self, caller: Caller, operation_id: OperationId) -> Operation:
        reached = reach(caller, Action.RESOURCE_VIEW, self.roles)
        operation = await self.reads.read(lambda conn: visible_operation(conn, reached, operation_id))
        if operation is None:
            raise OperationNotFound
        require_action(caller, RESOURCE_ACTIONS[operation.resource_type], self.roles)
        return operation
