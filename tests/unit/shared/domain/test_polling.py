"""The poll hint is honest: short while it is fast, longer while it waits, 0 when it is over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.contracts.enums import OperationStatus, OperationType, ResourceType
from shared.contracts.ids import OperationId, SpaceId, SubjectId, TenantId
from shared.domain.operation import Operation
from shared.domain.polling import poll_after

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEW = Operation(
    id=OperationId("op_1"),
    tenant_id=TenantId("acme"),
    type=OperationType.SPACE_CREATE,
    status=OperationStatus.PENDING,
    resource_type=ResourceType.SPACE,
    resource_id="spc_1",
    space_id=SpaceId("spc_1"),
    root_id=OperationId("op_1"),
    created_by=SubjectId("ana"),
    created_at=NOW,
    updated_at=NOW,
)


def ago(**units: float) -> datetime:
    return NOW - timedelta(**units)


QUEUED = replace(NEW, created_at=ago(hours=1))
AT_WORK = replace(QUEUED, status=OperationStatus.RUNNING, started_at=ago(seconds=10))


@pytest.mark.parametrize(
    ("operation", "seconds"),
    [
        pytest.param(NEW, 0.25, id="new"),
        pytest.param(replace(NEW, created_at=ago(seconds=10)), 2.5, id="queued for ten seconds"),
        pytest.param(QUEUED, 60, id="queued for an hour"),
        pytest.param(replace(AT_WORK, started_at=NOW), 0.25, id="taken up a moment ago, after an hour in the queue"),
        pytest.param(AT_WORK, 2.5, id="at work for ten seconds"),
        pytest.param(replace(AT_WORK, started_at=ago(hours=1)), 60, id="at work for an hour"),
        pytest.param(replace(AT_WORK, next_retry_at=NOW + timedelta(seconds=7)), 7, id="waits for a retry"),
        pytest.param(replace(AT_WORK, next_retry_at=NOW + timedelta(minutes=5)), 60, id="waits for a late retry"),
        pytest.param(
            replace(AT_WORK, next_retry_at=NOW + timedelta(milliseconds=3)), 0.25, id="waits for a retry that is near"
        ),
        pytest.param(
            replace(AT_WORK, started_at=ago(hours=1), last_retry_at=ago(minutes=5), next_retry_at=ago(seconds=2)),
            0.5,
            id="a retry is due since two seconds, after five minutes",
        ),
        pytest.param(
            replace(AT_WORK, started_at=ago(hours=1), last_retry_at=ago(seconds=8)), 2, id="at work again after a retry"
        ),
        pytest.param(
            replace(AT_WORK, started_at=ago(hours=1), cancel_requested_at=ago(seconds=1)),
            0.25,
            id="asked to stop a second ago, after an hour's work",
        ),
        pytest.param(
            replace(AT_WORK, cancel_requested_at=NOW, next_retry_at=NOW + timedelta(minutes=5)),
            0.25,
            id="asked to stop while it waits for a retry",
        ),
        pytest.param(replace(NEW, created_at=NOW + timedelta(seconds=3)), 0.25, id="made by a clock that is ahead"),
        pytest.param(replace(AT_WORK, status=OperationStatus.SUCCEEDED), 0, id="succeeded"),
        pytest.param(replace(AT_WORK, status=OperationStatus.FAILED), 0, id="failed"),
        pytest.param(replace(AT_WORK, status=OperationStatus.CANCELLED), 0, id="cancelled"),
    ],
)
def test_the_next_look_is_worth_it_after(operation: Operation, seconds: float) -> None:
    assert poll_after(operation, NOW) == timedelta(seconds=seconds)
