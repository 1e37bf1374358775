"""One thing that happened, as it is written to the audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique

from shared.contracts.enums import ResourceType
from shared.contracts.ids import OperationId, TenantId
from shared.domain.identity import Caller


@unique
class Outcome(StrEnum):
    """How it went."""

    DONE = "done"
    DENIED = "denied"
    REFUSED = "refused"
    SKIPPED = "skipped"
    REPLAYED = "replayed"


@unique
class Actor(StrEnum):
    """Which part of the gateway wrote the entry."""

    API = "api"
    PROJECTOR = "projector"
    DISPATCHER = "dispatcher"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a change comes from: who called and within which request, or which part of ours decided it."""

    actor: Actor
    caller: Caller | None = None
    tool_call_id: str | None = None
    request_id: str | None = None
    traceparent: str | None = None
    idempotency_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry. It never holds tokens, assertions, keys, signed links or document text."""

    id: str
    tenant_id: TenantId | None
    at: datetime
    origin: Origin
    action: str
    outcome: Outcome
    resource_type: ResourceType | None = None
    resource_id: str | None = None
    operation_id: OperationId | None = None
    parent_operation_id: OperationId | None = None
    before: str | None = None
    after: str | None = None
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
