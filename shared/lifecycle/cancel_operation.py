"""Cancels an operation: at once when no worker has it, and otherwise as soon as a worker has confirmed it."""

from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action, OperationType
from shared.contracts.ids import OperationId
from shared.contracts.operations import OperationReasonRequest
from shared.domain.operation import require_cancellable
from shared.domain.space import require_open
from shared.lifecycle.changeable_operation import SettledOperation, held_work, permitted_operation
from shared.lifecycle.recording import reason_details
from shared.lifecycle.request import Request
from shared.lifecycle.stopping import stop_work
from shared.lifecycle.surroundings import Surroundings

CANCEL_ACTIONS: Final = (Action.ORIGINAL_OPERATION_PERMISSION,)


def cancel_operation(
    conn: Connection,
    operation_id: OperationId,
    body: OperationReasonRequest,
    request: Request,
    around: Surroundings,
) -> SettledOperation:
    """Have the operation end CANCELLED, unless it is faster. A second request changes nothing."""
    work = held_work(conn, permitted_operation(conn, operation_id, CANCEL_ACTIONS, request.caller, request.roles))
    require_cancellable(work.operation)
    require_open(work.space)
    after = stop_work(
        conn,
        work,
        request,
        around,
        around.clock(),
        action=OperationType.OPERATION_CANCEL.value,
        details=reason_details(body.reason),
    )
    return SettledOperation(operation=after.operation)
