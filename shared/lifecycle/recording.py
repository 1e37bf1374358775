"""Turns what a move changed into audit entries: one for each status that changed."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from shared.contracts.enums import ResourceType
from shared.contracts.ids import OperationId, TenantId
from shared.domain.audit import AuditEntry, Origin, Outcome
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.space import Space
from shared.domain.version import Version
from shared.telemetry.stamps import NewId

Stateful = Space | Document | Version | Operation

Detail = str | int | float | bool | None

NO_DETAILS: Final[Mapping[str, Detail]] = MappingProxyType({})

_RESOURCE: dict[type[Stateful], ResourceType] = {
    Space: ResourceType.SPACE,
    Document: ResourceType.DOCUMENT,
    Version: ResourceType.VERSION,
    Operation: ResourceType.OPERATION,
}


def record_transition(
    before: Stateful | None,
    after: Stateful,
    *,
    origin: Origin,
    now: datetime,
    new_id: NewId,
    operation: Operation | None = None,
    action: str | None = None,
    details: Mapping[str, Detail] = NO_DETAILS,
) -> Iterator[AuditEntry]:
    """One entry if the status changed or the thing is new, none otherwise.

    `action` names what a caller asked for, and then there always is an entry; without one it is `<resource>.<status>`.
    """
    was: StrEnum | None = None if before is None else before.status
    if before is not None and was is after.status and action is None:
        return
    resource = _RESOURCE[type(after)]
    yield AuditEntry(
        id=new_id("aud"),
        tenant_id=TenantId(after.tenant_id),
        at=now,
        origin=origin,
        action=action or f"{resource.value.lower()}.{after.status.value.lower()}",
        outcome=Outcome.DONE,
        resource_type=resource,
        resource_id=after.id,
        operation_id=None if operation is None else OperationId(operation.id),
        parent_operation_id=None if operation is None else operation.parent_id,
        before=None if was is None else was.value,
        after=after.status.value,
        details=details,
    )


def reason_details(reason: str | None) -> Mapping[str, Detail]:
    """Why a caller asked for a move, as the entry of the move tells it."""
    return NO_DETAILS if reason is None else {"reason": reason}
