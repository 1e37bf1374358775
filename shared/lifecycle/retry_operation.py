"""Retries an operation that failed: a child of it begins with the step that failed, on the same version."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action, OperationType, VersionStatus
from shared.contracts.ids import OperationId
from shared.contracts.operations import OperationReasonRequest
from shared.database.audit import write_entries
from shared.database.documents import save_documents
from shared.database.operations import find_retries, save_operations
from shared.database.spaces import save_spaces
from shared.database.versions import save_versions
from shared.domain.errors import NotRetryable
from shared.domain.manual_retry import child_of, document_retried, require_retryable, space_retried, step_to_retry
from shared.domain.operation import Operation
from shared.domain.space import require_open
from shared.domain.work import Work
from shared.lifecycle.acceptance import Accepted, Change, accept, new_operation
from shared.lifecycle.changeable_operation import held_work, permitted_operation
from shared.lifecycle.recording import reason_details, record_transition
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings

RETRY_ACTIONS: Final = (Action.OPERATION_RETRY, Action.ORIGINAL_OPERATION_PERMISSION)


def retry_operation(
    conn: Connection,
    operation_id: OperationId,
    body: OperationReasonRequest,
    request: Request,
    around: Surroundings,
) -> Accepted:
    """Accept another try of an operation that is the newest of its tree, FAILED and retryable."""
    work = held_work(conn, permitted_operation(conn, operation_id, RETRY_ACTIONS, request.caller, request.roles))
    failed = work.operation
    retries = find_retries(conn, failed.root_id)
    require_retryable(failed, retries)
    now = around.clock()
    reopened, changes = _reopen(conn, work, around, now)
    child = new_operation(failed.type, reopened.space, reopened.version, request, around, now)
    _tell(conn, failed, request, around, now, body.reason)
    return accept(
        conn,
        replace(reopened, operation=child_of(failed, child, retries)),
        changes,
        request,
        around,
        now,
        first_step=step_to_retry(failed, work.version),
        reason=body.reason,
    )


def _reopen(conn: Connection, work: Work, around: Surroundings, now: datetime) -> tuple[Work, list[Change]]:
    """What the operation was about, ready to be worked on again, and saved."""
    document, version = work.document, work.version
    if document is None or version is None:
        space = space_retried(work.space, now)
        save_spaces(conn, [space])
        return replace(work, space=space), [Change(work.space, space)]
    require_open(work.space)
    if work.is_leaving or not work.holds_slot or version.status is not VersionStatus.FAILED:
        raise NotRetryable("Something newer has taken the operation's place.")
    after = document_retried(document, now)
    reopened = version.reopened(OperationId(around.new_id("op")), now)
    save_documents(conn, [after])
    save_versions(conn, [reopened])
    changes = [Change(document, after), Change(version, reopened)]
    return replace(work, document=after, version=reopened), changes


def _tell(
    conn: Connection, failed: Operation, request: Request, around: Surroundings, now: datetime, reason: str
) -> None:
    """The one that was retried is not the newest of its tree any more, so nobody may retry it again."""
    after = failed.not_retryable(now)
    save_operations(conn, [after])
    entries = record_transition(
        failed,
        after,
        origin=request.origin(),
        now=now,
        new_id=around.new_id,
        operation=after,
        action=OperationType.OPERATION_RETRY.value,
        details=reason_details(reason),
    )
    write_entries(conn, list(entries))
