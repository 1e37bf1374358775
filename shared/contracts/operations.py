"""Operations over HTTP: requests and answers."""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from shared.contracts.body import Body, Whole, drop_default
from shared.contracts.enums import FailureCode, OperationStatus, OperationType, ResourceType
from shared.contracts.ids import OperationId
from shared.contracts.text import BusinessId, Id, Reason
from shared.contracts.wire import Maybe, UtcTime

MAX_AUTOMATIC_RETRIES: Final = 5
"""Per operation, over all its steps."""
MAX_MANUAL_RETRIES: Final = 3
"""Per root operation."""
MAX_POLL_AFTER_MS: Final = 60_000


MAX_WAIT_SECONDS: Final = 30

_JSON_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def _read_number(value: object) -> object:
    """A query holds text; a number in it is written as in JSON."""
    return float(value) if isinstance(value, str) and _JSON_NUMBER.fullmatch(value) else value


NullableTime = Annotated[UtcTime | None, Field(json_schema_extra=drop_default)]


class OperationQuery(Body):
    """How an operation is looked at."""

    wait: Annotated[
        float,
        Field(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Seconds to wait for the operation's end: the answer comes as soon as it has ended, "
            "else after that time with its present state.",
        ),
        BeforeValidator(_read_number),
    ] = 0


class OperationReasonRequest(Body):
    """Cancel or retry an operation, and why."""

    reason: Reason


class Operation(Body):
    """An operation, as it is polled."""

    operation_id: Id[OperationId]
    parent_operation_id: Maybe[Id[OperationId]] = None
    status: OperationStatus
    operation_type: OperationType
    resource_type: Maybe[ResourceType] = None
    resource_id: Maybe[BusinessId] = None
    manual_retry_attempt: Maybe[Annotated[int, Whole(0, MAX_MANUAL_RETRIES)]] = None
    created_at: UtcTime
    updated_at: Maybe[UtcTime] = None
    failure_code: Maybe[FailureCode] = None
    next_poll_after_ms: Maybe[Annotated[int, Whole(0, MAX_POLL_AFTER_MS)]] = None
    retryable: Maybe[bool] = None
    retry_count: Maybe[Annotated[int, Whole(0, MAX_AUTOMATIC_RETRIES)]] = None
    last_retry_at: NullableTime = None
    next_retry_at: NullableTime = None


class ManualRetryAccepted(Body):
    """The child operation that a manual retry made; its parent is the operation that was retried."""

    operation_id: Id[OperationId]
    parent_operation_id: Id[OperationId]
    status: OperationStatus
