"""Stops work that runs on a version: for cancels, and for deletes, which cancel what runs on their document."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from shared.database.audit import write_entries
from shared.database.outbox import find_commands, insert_commands
from shared.database.purges import insert_purges
from shared.domain.outcomes import request_cancel
from shared.domain.work import Projected, Work
from shared.lifecycle.commands import build_command, outbox_row
from shared.lifecycle.moved_work import save_work, work_entries
from shared.lifecycle.purges import new_purge
from shared.lifecycle.recording import NO_DETAILS, Detail
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


def stop_work(
    conn: Connection,
    work: Work,
    request: Request,
    around: Surroundings,
    now: datetime,
    *,
    action: str | None = None,
    details: Mapping[str, Detail] = NO_DETAILS,
) -> Work:
    """Cancel an operation that has not ended; the caller holds its document and itself.

    What waits for its turn or for a retry is CANCELLED here and now. The dispatcher may have published it and not have
    noted that yet: then nobody waits for it any more, and what it leaves at the provider is purged. Anything else goes
    on until the cancel command, which the dispatcher publishes, is answered.
    """
    projected = request_cancel(work, around.moment(now), is_out=_is_out(conn, work))
    after = projected.work
    if after.operation is not work.operation:
        save_work(conn, work, after)
        insert_purges(conn, [new_purge(after, order, around, now) for order in projected.purges])
        _issue(conn, projected, request, around, now)
    write_entries(conn, list(work_entries(work, after, request, around, now, action=action, details=details)))
    return after


def _is_out(conn: Connection, work: Work) -> bool:
    """Whether a worker may have the current command."""
    current = str(work.operation.work)
    rows = find_commands(conn, {work.operation.id})
    return not any(row.command_id == current and row.published_at is None for row in rows)


def _issue(conn: Connection, projected: Projected, request: Request, around: Surroundings, now: datetime) -> None:
    if projected.issue is None:
        return
    command_id, due_at = projected.issue.command, projected.issue.due_at
    deadline = around.settings.deadline(command_id.step)
    command = build_command(projected.work, command_id, now=now, deadline=deadline)
    insert_commands(conn, [outbox_row(command, traceparent=request.traceparent, due_at=due_at, now=now)])
