"""Stops work that runs on a version: for cancels, and for deletes, which cancel what runs on their document."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from sqlalchemy import Connection

from shared.database.audit import write_entries
from shared.database.documents import save_documents
from shared.database.operations import save_operations
from shared.database.outbox import find_commands, insert_commands, withdraw_unpublished
from shared.database.purges import insert_purges
from shared.database.versions import save_versions
from shared.domain.audit import AuditEntry
from shared.domain.outcomes import request_cancel
from shared.domain.work import Projected, Work
from shared.lifecycle.commands import build_command, outbox_row
from shared.lifecycle.purges import new_purge
from shared.lifecycle.recording import NO_DETAILS, Detail, Stateful, record_transition
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
        _save(conn, work, projected, around, now)
        _issue(conn, projected, request, around, now)
    write_entries(conn, list(_entries(work, after, request, around, now, action, details)))
    return after


def _is_out(conn: Connection, work: Work) -> bool:
    """Whether a worker may have the current command."""
    current = str(work.operation.work)
    rows = find_commands(conn, {work.operation.id})
    return not any(row.command_id == current and row.published_at is None for row in rows)


def _save(conn: Connection, before: Work, projected: Projected, around: Surroundings, now: datetime) -> None:
    after = projected.work
    if after.document is not None and after.document is not before.document:
        save_documents(conn, [after.document])
    save_operations(conn, [after.operation])
    if after.version is not None and after.version is not before.version:
        save_versions(conn, [after.version])
    if after.operation.is_over:
        withdraw_unpublished(conn, {after.operation.id})
    insert_purges(conn, [new_purge(after, order, around, now) for order in projected.purges])


def _issue(conn: Connection, projected: Projected, request: Request, around: Surroundings, now: datetime) -> None:
    if projected.issue is None:
        return
    command_id, due_at = projected.issue.command, projected.issue.due_at
    deadline = around.settings.deadline(command_id.step)
    command = build_command(projected.work, command_id, now=now, deadline=deadline)
    insert_commands(conn, [outbox_row(command, traceparent=request.traceparent, due_at=due_at, now=now)])


def _entries(
    before: Work,
    after: Work,
    request: Request,
    around: Surroundings,
    now: datetime,
    action: str | None,
    details: Mapping[str, Detail],
) -> Iterator[AuditEntry]:
    pairs: tuple[tuple[Stateful | None, Stateful | None], ...] = (
        (before.operation, after.operation),
        (before.document, after.document),
        (before.version, after.version),
    )
    for was, then in pairs:
        is_operation = then is after.operation
        if then is not None and (is_operation or then is not was):
            yield from record_transition(
                was,
                then,
                origin=request.origin(),
                now=now,
                new_id=around.new_id,
                operation=after.operation,
                action=action if is_operation else None,
                details=details if is_operation else NO_DETAILS,
            )
