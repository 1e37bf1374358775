"""Answers commands that nobody will answer any more: each counts as a crash of its worker."""

from collections.abc import Sequence

from sqlalchemy import Connection

from shared.contracts.enums import InterruptReason
from shared.contracts.events import StepInterrupted
from shared.contracts.ids import CommandId, TenantId
from shared.database.outbox import OutboxCommand
from shared.lifecycle.apply_events import Applied, ReceivedEvent, apply_events
from shared.lifecycle.surroundings import Surroundings


def interrupt_commands(conn: Connection, rows: Sequence[OutboxCommand], around: Surroundings) -> Applied:
    """Apply `interrupted(crash)` for each row, by an event id that is the same whenever this runs again."""
    now = around.clock()
    received = []
    for row in rows:
        command = CommandId.parse(row.command_id)
        event = StepInterrupted(
            event_id=command.event("dispatcher", row.publication),
            command_id=row.command_id,
            owner_id=row.owner_id,
            step=row.step,
            tenant_id=TenantId(row.tenant_id),
            occurred_at=now,
            reason=InterruptReason.CRASH,
        )
        received.append(ReceivedEvent(event, row.traceparent))
    return apply_events(conn, received, around)
