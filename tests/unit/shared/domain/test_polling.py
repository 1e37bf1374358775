"""The poll hint is honest: short while it is fast, longer while it waits, 0 when it is over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from shared.contracts.enums import OperationStatus, OperationType, ResourceType
from shared.contracts.ids import OperationId, SpaceId, SubjectId, TenantId
from shared.domain.operation import Operation
from shared.domain.polling import poll_after

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OPERATION = Operation(
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


def test_a_new_operation_is_looked_at_again_at_once() -> None:
    assert poll_after(OPERATION, NOW) == timedelta(milliseconds=250)


def test_the_longer_it_takes_the_rarer_the_looks_up_to_a_minute() -> None:
    assert poll_after(OPERATION, NOW + timedelta(seconds=10)) == timedelta(seconds=2.5)
    assert poll_after(OPERATION, NOW + timedelta(hours=1)) == timedelta(seconds=60)


def test_a_waiting_operation_is_worth_a_look_when_its_retry_is_due() -> None:
    waiting = replace(OPERATION, status=OperationStatus.RUNNING, next_retry_at=NOW + timedelta(seconds=7))
    assert poll_after(waiting, NOW) == timedelta(seconds=7)


def test_what_is_over_needs_no_more_looks() -> None:
    assert poll_after(replace(OPERATION, status=OperationStatus.FAILED), NOW) == timedelta(0)
