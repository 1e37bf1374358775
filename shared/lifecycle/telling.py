"""Tells the audit of moves on what has no status that the domain moves: grants, accounts, tokens, uploads, files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import ResourceType
from shared.database.audit import write_entries
from shared.domain.audit import AuditEntry, Outcome
from shared.lifecycle.recording import Detail
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the audit is told of a move. Spaces are resources of their own type; all others have none."""

    action: str
    resource_id: str
    resource: ResourceType | None = None
    before: str | None = None
    after: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)


def record_told(conn: Connection, told: Told, request: Request, around: Surroundings, now: datetime) -> None:
    """Tell the audit what was asked for, also when it was so already."""
    entry = AuditEntry(
        id=around.new_id("aud"),
        tenant_id=request.caller.tenant,
        at=now,
        origin=request.origin(),
        action=told.action,
        outcome=Outcome.DONE,
        resource_type=told.resource,
        resource_id=told.resource_id,
        before=told.before,
        after=told.after,
        details=told.details,
    )
    write_entries(conn, [entry])
