"""What accepting work has in common: an operation begun, its command in the outbox, everything audited."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection

from shared.contracts.enums import OperationStatus, OperationType, ResourceType, Step
from shared.contracts.ids import OperationId
from shared.database.audit import write_entries
from shared.database.operations import insert_operations
from shared.database.outbox import OutboxCommand, insert_commands
from shared.domain.operation import Operation, first_command
from shared.domain.space import Space
from shared.domain.transitions import IllegalMove
from shared.domain.version import Version
from shared.domain.work import Work
from shared.lifecycle.commands import build_command, outbox_row
from shared.lifecycle.recording import NO_DETAILS, Stateful, reason_details, record_transition
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


class Moved(Protocol):
    """What a move came to; all that is known of every one of them is which command its sender may publish at once."""

    @property
    def command(self) -> OutboxCommand | None:
        """The command, or None when there is none to publish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Work that was taken on, and its first command."""

    work: Work
    command: OutboxCommand


@dataclass(frozen=True, slots=True)
class Change:
    """One value before and after, as the audit tells it."""

    before: Stateful | None
    after: Stateful


def new_operation(
    kind: OperationType, space: Space, version: Version | None, request: Request, around: Surroundings, now: datetime
) -> Operation:
    """A root operation on a space, or on a version of a document, that has not begun."""
    operation_id = OperationId(around.new_id("op")) if version is None else version.operation_id
    return Operation(
        id=operation_id,
        tenant_id=space.tenant_id,
        type=kind,
        status=OperationStatus.PENDING,
        resource_type=ResourceType.SPACE if version is None else ResourceType.DOCUMENT,
        resource_id=space.id if version is None else version.document_id,
        space_id=space.id,
        document_id=None if version is None else version.document_id,
        version_id=None if version is None else version.id,
        root_id=operation_id,
        created_by=request.caller.subject,
        created_at=now,
        updated_at=now,
    )


def accept(
    conn: Connection,
    work: Work,
    changes: Iterable[Change],
    request: Request,
    around: Surroundings,
    now: datetime,
    *,
    first_step: Step | None = None,
    reason: str | None = None,
) -> Accepted:
    """Store the operation with its first command in the outbox and the audit of all that changed.

    The rest of the work's rows are the caller's to store, before this. `first_step`: when it is not the usual one of
    such an operation. `reason` is what the caller gave for the move.
    """
    command_id = first_command(work.operation, first_step)
    if command_id is None:
        raise IllegalMove(f"an operation of type {work.operation.type.value} begins with no command")
    operation = work.operation.issued(command_id, now)
    work = Work(operation=operation, space=work.space, document=work.document, version=work.version, active=work.active)
    command = build_command(work, command_id, now=now, deadline=around.settings.deadline(command_id.step))
    row = outbox_row(command, traceparent=request.traceparent, due_at=now, now=now, published=request.publishes)
    insert_operations(conn, [operation])
    insert_commands(conn, [row])
    record_changes(conn, operation, changes, request, around, now, reason)
    return Accepted(work=work, command=row)


def record_changes(
    conn: Connection,
    operation: Operation,
    changes: Iterable[Change],
    request: Request,
    around: Surroundings,
    now: datetime,
    reason: str | None,
) -> None:
    """Tell the audit of an operation that was taken on, and then of what changed with it.

    `reason` is what the caller gave for the operation.
    """
    entries = [
        entry
        for change in (Change(None, operation), *changes)
        for entry in record_transition(
            change.before,
            change.after,
            origin=request.origin(),
            now=now,
            new_id=around.new_id,
            operation=operation,
            action=operation.type.value if change.after is operation else None,
            details=reason_details(reason) if change.after is operation else NO_DETAILS,
        )
    ]
    write_entries(conn, entries)
