"""The admin API for those who keep the gateway running: unfinished work, dead letters, reconciliations, the audit."""

from typing import Annotated, Final

from pydantic import BeforeValidator, Field, JsonValue

from shared.contracts.admin_route import admin_change, admin_read
from shared.contracts.body import Body, Whole
from shared.contracts.enums import (
    Action,
    FindingKind,
    FindingOutcome,
    LetterKind,
    LetterStatus,
    ReconciliationStatus,
    ResourceType,
    Step,
    UnfinishedReason,
)
from shared.contracts.ids import LetterId, ReconciliationId
from shared.contracts.operations import Operation, OperationReasonRequest
from shared.contracts.paging import Listing, ListQuery
from shared.contracts.text import SHA256_HEX, BusinessId, Id, Text
from shared.contracts.wire import ExactTime, Maybe, UtcTime

MOST_FINDINGS: Final = 1000
"""A report names so many findings of each kind; its totals count all."""
MOST_AUDIT_ENTRIES: Final = 500
LONGEST_AGE: Final = 365 * 24 * 3600
"""Seconds."""

Sentence = Annotated[str, Text(1, 2000)]


def _as_bool(value: object) -> object:
    """A query holds text."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


class UnfinishedQuery(ListQuery):
    """Which of the tenant's unfinished operations are listed, the one that has been still for longest first."""

    overdue: Annotated[
        bool,
        BeforeValidator(_as_bool),
        Field(description="Only those that have not moved for longer than they should."),
    ] = False
    older_than_seconds: Annotated[
        Maybe[Annotated[int, Whole(1, LONGEST_AGE)]],
        Field(description="How long is longer than it should be; the gateway's own setting when absent."),
    ] = None


class UnfinishedOperation(Body):
    """An operation that has not ended, and why not."""

    operation: Operation
    reason: UnfinishedReason
    overdue: bool
    still_since: UtcTime
    """When it moved last, or when its retry is due if that is later."""
    explanation: Sentence
    """What it waits for and what can be done about it."""
    step: Maybe[Step] = None
    attempt: Maybe[Annotated[int, Whole(1)]] = None
    worker_id: Maybe[BusinessId] = None
    """The worker that has it in hand."""
    letter_id: Maybe[Id[LetterId]] = None
    """The dead letter by which it is stuck."""


class UnfinishedList(Listing[UnfinishedOperation]):
    """One page of a tenant's unfinished operations."""


class LetterQuery(ListQuery):
    """Which dead letters are listed, the oldest first."""

    status: Annotated[LetterStatus, Field(strict=False)] = LetterStatus.OPEN
    """A query holds text."""


class DeadLetter(Body):
    """A message that could not be read or applied."""

    letter_id: Id[LetterId]
    kind: LetterKind
    status: LetterStatus
    subject: str
    owner_id: Maybe[str] = None
    """The operation or purge that it is about. Like the subject it is as it came: it may be no id of ours."""
    replayable: bool
    """An event can be applied again. A command cannot: it was answered."""
    error: str
    created_at: UtcTime
    settled_at: Maybe[UtcTime] = None
    settled_by: Maybe[str] = None


class DeadLetterFull(DeadLetter):
    """A dead letter with the message itself; its body as text when it is UTF-8, else in base64."""

    headers: dict[str, str]
    body: str
    is_base64: bool


class DeadLetterList(Listing[DeadLetter]):
    """One page of dead letters."""


class ReconciliationRequest(Body):
    """Compare what the gateway knows of the caller's tenant with what provider and object store hold."""

    apply: bool = False
    """Repair what is found, instead of only reporting it."""


class Finding(Body):
    """One thing that is not as it should be."""

    kind: FindingKind
    outcome: FindingOutcome
    space_id: Maybe[BusinessId] = None
    document_id: Maybe[BusinessId] = None
    version_id: Maybe[BusinessId] = None
    operation_id: Maybe[BusinessId] = None
    file_id: Maybe[BusinessId] = None
    explanation: Sentence


class Reconciliation(Body):
    """A comparison, how far it has come, and what it found."""

    reconciliation_id: Id[ReconciliationId]
    status: ReconciliationStatus
    apply: bool
    requested_by: str
    created_at: UtcTime
    ended_at: Maybe[UtcTime] = None
    error: Maybe[Sentence] = None
    totals: dict[FindingKind, int]
    findings: Annotated[tuple[Finding, ...], Field(max_length=MOST_FINDINGS * len(FindingKind))]


class ReconciliationList(Listing[Reconciliation]):
    """One page of reconciliations, the newest first, without their findings."""


class AuditQuery(Body):
    """Which part of the tenant's audit chain is read."""

    after: Annotated[int, Whole(0)] = 0
    limit: Annotated[int, Whole(1, MOST_AUDIT_ENTRIES)] = 100
    latest: Annotated[
        bool, BeforeValidator(_as_bool), Field(description="The last `limit` entries instead of those behind `after`.")
    ] = False


class AuditEntry(Body):
    """One entry of the audit, in its place of the chain."""

    seq: Annotated[int, Whole(1)]
    entry_id: BusinessId
    at: ExactTime
    actor: str
    service: Maybe[str] = None
    subject: Maybe[str] = None
    session_id: Maybe[str] = None
    tool_call_id: Maybe[str] = None
    request_id: Maybe[str] = None
    trace_id: Maybe[str] = None
    action: str
    resource_type: Maybe[ResourceType] = None
    resource_id: Maybe[str] = None
    operation_id: Maybe[str] = None
    parent_operation_id: Maybe[str] = None
    idempotency_digest: Maybe[str] = None
    before: Maybe[str] = None
    after: Maybe[str] = None
    outcome: str
    details: dict[str, JsonValue]
    content_hash: Annotated[str, Field(pattern=SHA256_HEX)]
    prev_hash: Annotated[str, Field(pattern=f"{SHA256_HEX}|^$")]
    hash: Annotated[str, Field(pattern=SHA256_HEX)]


class AuditPage(Body):
    """Entries in the order of their chain; the next page begins after the last one's `seq`."""

    entries: Annotated[tuple[AuditEntry, ...], Field(max_length=MOST_AUDIT_ENTRIES)]
    last_seq: Annotated[int, Whole(0)]
    """Where the chain ends at this moment."""


_ONE_OPERATION: Final = "/operations/{operationId}"
_ONE_LETTER: Final = "/dead-letters/{letterId}"
_OPERATIONS: Final = Action.MANAGE_OPERATIONS

UNFINISHED_LIST: Final = admin_read(
    "admin_operation_list", "/operations", UnfinishedList, _OPERATIONS, query=ListQuery, own_query=UnfinishedQuery
)
UNFINISHED_GET: Final = admin_read("admin_operation_get", _ONE_OPERATION, UnfinishedOperation, _OPERATIONS)
OPERATION_FAIL: Final = admin_change(
    "admin_operation_fail", f"{_ONE_OPERATION}:fail", OperationReasonRequest, Operation, _OPERATIONS
)
LETTER_LIST: Final = admin_read(
    "admin_dead_letter_list", "/dead-letters", DeadLetterList, _OPERATIONS, query=ListQuery, own_query=LetterQuery
)
LETTER_GET: Final = admin_read("admin_dead_letter_get", _ONE_LETTER, DeadLetterFull, _OPERATIONS)
LETTER_REPLAY: Final = admin_change(
    "admin_dead_letter_replay", f"{_ONE_LETTER}:replay", OperationReasonRequest, DeadLetter, _OPERATIONS
)
LETTER_DISCARD: Final = admin_change(
    "admin_dead_letter_discard", f"{_ONE_LETTER}:discard", OperationReasonRequest, DeadLetter, _OPERATIONS
)
RECONCILIATION_CREATE: Final = admin_change(
    "admin_reconciliation_create",
    "/reconciliations",
    ReconciliationRequest,
    Reconciliation,
    _OPERATIONS,
    status=201,
)
RECONCILIATION_LIST: Final = admin_read(
    "admin_reconciliation_list", "/reconciliations", ReconciliationList, _OPERATIONS, query=ListQuery
)
RECONCILIATION_GET: Final = admin_read(
    "admin_reconciliation_get", "/reconciliations/{reconciliationId}", Reconciliation, _OPERATIONS
)
AUDIT_READ: Final = admin_read("admin_audit_read", "/audit", AuditPage, Action.VIEW_AUDIT, query=AuditQuery)

OPERATING_ROUTES: Final = (
    UNFINISHED_LIST,
    UNFINISHED_GET,
    OPERATION_FAIL,
    LETTER_LIST,
    LETTER_GET,
    LETTER_REPLAY,
    LETTER_DISCARD,
    RECONCILIATION_CREATE,
    RECONCILIATION_LIST,
    RECONCILIATION_GET,
    AUDIT_READ,
)
