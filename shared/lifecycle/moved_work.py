"""Stores what a caller's move has made of an operation's work, and tells the audit of it."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from sqlalchemy import Connection

from shared.database.documents import save_documents
from shared.database.operations import save_operations
from shared.database.outbox import withdraw_unpublished
from shared.database.spaces import save_spaces
from shared.database.versions import save_versions
from shared.domain.audit import AuditEntry
from shared.domain.work import Work
from shared.lifecycle.recording import NO_DETAILS, Detail, Stateful, record_transition
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


def save_work(conn: Connection, before: Work, after: Work) -> None:
    """Store what has changed; of an operation that has ended nothing is published any more that was not by now."""
    if after.space is not before.space:
        save_spaces(conn, [after.space])
    if after.document is not None and after.document is not before.document:
        save_documents(conn, [after.document])
    save_operations(conn, [after.operation])
    if after.version is not None and after.version is not before.version:
        save_versions(conn, [after.version])
    if after.operation.is_over:
        withdraw_unpublished(conn, {after.operation.id})


def work_entries(
    before: Work,
    after: Work,
    request: Request,
    around: Surroundings,
    now: datetime,
    *,
    action: str | None = None,
    details: Mapping[str, Detail] = NO_DETAILS,
) -> Iterator[AuditEntry]:
    """One entry for each thing that has changed. `action` and `details` are what the operation's own entry tells."""
    pairs: tuple[tuple[Stateful | None, Stateful | None], ...] = (
        (before.operation, after.operation),
        (before.space, after.space),
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
