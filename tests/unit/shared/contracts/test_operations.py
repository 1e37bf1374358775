"""Operations on the wire."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from shared.contracts.enums import OperationStatus, OperationType
from shared.contracts.ids import OperationId
from shared.contracts.operations import Operation

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def operation(**changes: Any) -> Operation:
    fields: dict[str, Any] = {
        "operation_id": OperationId("o"),
        "status": OperationStatus.RUNNING,
        "operation_type": OperationType.DOCUMENT_UPLOAD,
        "created_at": NOON,
    }
    return Operation(**(fields | changes))


def test_what_is_not_known_is_absent_but_retry_times_may_be_null() -> None:
    assert operation().to_json() == (
        b'{"operationId":"o","status":"RUNNING","operationType":"DOCUMENT_UPLOAD",'
        b'"createdAt":"2026-05-04T12:00:00.000Z","lastRetryAt":null,"nextRetryAt":null}'
    )


@pytest.mark.parametrize(
    ("field", "most"), [("retry_count", 5), ("manual_retry_attempt", 3), ("next_poll_after_ms", 60_000)]
)
def test_counts_stay_within_the_contract(field: str, most: int) -> None:
    assert getattr(operation(**{field: most}), field) == most
    for wrong in (-1, most + 1):
        with pytest.raises(ValidationError):
            operation(**{field: wrong})


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValidationError):
        operation(created_at=NOON.replace(tzinfo=None))
