"""What an operation looks like over HTTP."""

from datetime import datetime, timedelta
from typing import Final

import orjson

from shared.contracts.operations import ManualRetryAccepted
from shared.contracts.operations import Operation as OperationBody
from shared.contracts.wire import format_time
from shared.domain.failure import failure_code
from shared.domain.operation import Operation
from shared.domain.polling import poll_after
from shared.domain.transitions import IllegalMove

MILLISECOND: Final = timedelta(milliseconds=1)


def operation_body(operation: Operation, now: datetime) -> OperationBody:
    """The operation as it is polled."""
    reason = operation.failure_reason
    return OperationBody(
        operation_id=operation.id,
        parent_operation_id=operation.parent_id,
        status=operation.status,
        operation_type=operation.type,
        resource_type=operation.resource_type,
        resource_id=operation.resource_id,
        manual_retry_attempt=operation.manual_attempt,
        created_at=operation.created_at,
        updated_at=operation.updated_at,
        failure_code=None if reason is None else failure_code(reason),
        next_poll_after_ms=poll_after(operation, now) // MILLISECOND,
        retryable=operation.is_retryable,
        retry_count=operation.retry_count,
        last_retry_at=operation.last_retry_at,
        next_retry_at=operation.next_retry_at,
    )


def retry_accepted(operation: Operation) -> ManualRetryAccepted:
    """What is answered to a retry that was taken on; its parent is the operation that was retried."""
    if operation.parent_id is None:
        raise IllegalMove(f"operation {operation.id} retries nothing")
    return ManualRetryAccepted(
        operation_id=operation.id, parent_operation_id=operation.parent_id, status=operation.status
    )


def polled_operation(operation: Operation, now: datetime) -> bytes:
    """The JSON of `operation_body`, without the model: polls are most of what is asked, and this takes a tenth."""
    told: dict[str, str | int | None] = {"operationId": operation.id}
    if operation.parent_id is not None:
        told["parentOperationId"] = operation.parent_id
    told |= {
        "status": operation.status,
        "operationType": operation.type,
        "resourceType": operation.resource_type,
        "resourceId": operation.resource_id,
        "manualRetryAttempt": operation.manual_attempt,
        "createdAt": format_time(operation.created_at),
        "updatedAt": format_time(operation.updated_at),
    }
    if operation.failure_reason is not None:
        told["failureCode"] = failure_code(operation.failure_reason)
    told |= {
        "nextPollAfterMs": poll_after(operation, now) // MILLISECOND,
        "retryable": operation.is_retryable,
        "retryCount": operation.retry_count,
        "lastRetryAt": _time(operation.last_retry_at),
        "nextRetryAt": _time(operation.next_retry_at),
    }
    return orjson.dumps(told)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)
