"""Operations: cancel and retry."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.operations.views import operation_body, retry_accepted
from shared.contracts.enums import Action
from shared.contracts.ids import OperationId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.route import Route
from shared.contracts.routes import OPERATION_CANCEL, OPERATION_RETRY
from shared.lifecycle.cancel_operation import CANCEL_ACTIONS, cancel_operation
from shared.lifecycle.changeable_operation import permitted_operation
from shared.lifecycle.once import Reauthorise
from shared.lifecycle.retry_operation import RETRY_ACTIONS, retry_operation


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationChanges:
    """What callers may do to operations. Their commands are left to the dispatcher, which also tells the workers."""

    moves: Moves

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {OPERATION_CANCEL: self.cancel, OPERATION_RETRY: self.retry}

    async def cancel(self, call: Call) -> Answer:
        """Have an operation end CANCELLED; the answer tells how it stands now."""
        operation_id = call.id("operationId", OperationId)
        body = await call.read(OperationReasonRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: cancel_operation(conn, operation_id, body, request, self.moves.around),
            needs_broker=False,
            view=lambda settled: operation_body(settled.operation, self.moves.around.clock()),
            reauthorise=self._still_permitted(call, CANCEL_ACTIONS),
        )

    async def retry(self, call: Call) -> Answer:
        """Take a failed operation on once more, as a child of it."""
        operation_id = call.id("operationId", OperationId)
        body = await call.read(OperationReasonRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: retry_operation(conn, operation_id, body, request, self.moves.around),
            view=lambda accepted: retry_accepted(accepted.work.operation),
            reauthorise=self._still_permitted(call, RETRY_ACTIONS),
        )

    def _still_permitted(self, call: Call, actions: tuple[Action, ...]) -> Reauthorise:
        """Whoever may still do so, even if what the operation was about is gone by now."""
        operation_id = call.id("operationId", OperationId)

        def reauthorise(conn: Connection, content: str) -> None:
            permitted_operation(conn, operation_id, actions, call.caller, self.moves.roles)

        return reauthorise
