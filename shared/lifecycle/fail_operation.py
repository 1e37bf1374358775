"""Ends an operation because an operator wants it to end: in whatever state it is, and whatever it waits for."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action, OperationStatus, OperationType
from shared.contracts.ids import OperationId
from shared.contracts.operations import OperationReasonRequest
from shared.database.audit import write_entries
from shared.database.purges import find_purges_of
from shared.domain.authorization import reach
from shared.domain.operation import require_unfinished
from shared.domain.outcomes import end_by_operator
from shared.domain.work import Work
from shared.lifecycle.changeable_operation import SettledOperation, held_work
from shared.lifecycle.dead_letters import discard_letters_of
from shared.lifecycle.deletion import begin_deletes, order_purges, settle_deletes
from shared.lifecycle.managed import require_managed_operation
from shared.lifecycle.moved_work import save_work, work_entries
from shared.lifecycle.recording import reason_details
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings

FAILED: Final = "OPERATION_FAIL"
"""What the audit calls the move."""


def fail_operation(
    conn: Connection, operation_id: OperationId, body: OperationReasonRequest, request: Request, around: Surroundings
) -> SettledOperation:
    """Have an operation end FAILED here and now; AlreadyEnded when it is over.

    What was published stays until it is answered, and what it comes to by then is Skipped. The dead letters of the
    operation, and of the purges that a delete waits for, are discarded with it: those purges go on.
    """
    reached = reach(request.caller, Action.MANAGE_OPERATIONS, request.roles)
    work = held_work(conn, require_managed_operation(conn, reached, operation_id))
    require_unfinished(work.operation)
    now = around.clock()
    after = end_by_operator(work, around.moment(now))
    if work.operation.type is OperationType.DOCUMENT_DELETE and work.operation.status is OperationStatus.PENDING:
        order_purges(conn, [work.operation], around, now)
    save_work(conn, work, after)
    details = reason_details(body.reason)
    write_entries(conn, list(work_entries(work, after, request, around, now, action=FAILED, details=details)))
    purges = find_purges_of(conn, {operation_id})
    discard_letters_of(conn, {operation_id, *(purge.id for purge in purges)}, body.reason, request, around)
    _go_on_deleting(conn, after, request, around, now)
    return SettledOperation(operation=after.operation)


def _go_on_deleting(conn: Connection, after: Work, request: Request, around: Surroundings, now: datetime) -> None:
    """A document that is being deleted goes all the same: by the purges of its delete, or by those of one that waits
    for the work that has just ended.
    """
    if after.operation.type is OperationType.DOCUMENT_DELETE:
        settle_deletes(conn, {after.operation.id}, request.origin(), around, now)
    elif after.document is not None and after.document.is_hidden:
        begin_deletes(conn, {after.document.id}, request.origin(), around, now)
