"""What unfinished work, dead letters and reconciliations look like over HTTP."""

import base64
from datetime import datetime

from services.api.operations.views import operation_body
from shared.contracts.enums import LetterKind
from shared.contracts.operating import DeadLetter as DeadLetterBody
from shared.contracts.operating import DeadLetterFull, UnfinishedOperation
from shared.contracts.operating import Reconciliation as ReconciliationBody
from shared.database.dead_letters import DeadLetter
from shared.database.reconciliations import Reconciliation
from shared.domain.operation import Operation
from shared.domain.unfinished import Explanation, still_since


def unfinished_body(
    operation: Operation, explanation: Explanation, now: datetime, *, overdue: bool
) -> UnfinishedOperation:
    """An operation that has not ended, and why not."""
    command = explanation.command
    return UnfinishedOperation(
        operation=operation_body(operation, now),
        reason=explanation.reason,
        overdue=overdue,
        still_since=still_since(operation),
        explanation=explanation.sentence,
        step=None if command is None else command.step,
        attempt=None if command is None else command.attempt,
        worker_id=explanation.worker_id,
        letter_id=explanation.letter_id,
    )


def letter_body(letter: DeadLetter) -> DeadLetterBody:
    """A dead letter without its message."""
    return DeadLetterBody(
        letter_id=letter.id,
        kind=letter.kind,
        status=letter.status,
        subject=letter.subject,
        owner_id=letter.owner_id or None,
        replayable=letter.kind is LetterKind.EVENT,
        error=letter.error,
        created_at=letter.created_at,
        settled_at=letter.settled_at,
        settled_by=letter.settled_by,
    )


def full_letter_body(letter: DeadLetter) -> DeadLetterFull:
    """A dead letter with its message."""
    body, is_base64 = _readable(letter.body)
    known = letter_body(letter).model_dump(by_alias=False)
    return DeadLetterFull(**known, headers=dict(letter.headers), body=body, is_base64=is_base64)


def reconciliation_body(reconciliation: Reconciliation) -> ReconciliationBody:
    """A reconciliation, with the findings that were read with it."""
    return ReconciliationBody(
        reconciliation_id=reconciliation.id,
        status=reconciliation.status,
        apply=reconciliation.applies,
        requested_by=reconciliation.requested_by,
        created_at=reconciliation.created_at,
        ended_at=reconciliation.ended_at,
        error=reconciliation.error,
        totals=dict(reconciliation.totals),
        findings=reconciliation.findings,
    )


def _readable(body: bytes) -> tuple[str, bool]:
    """A message's body as text, in base64 if it is none; and whether it is."""
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True
