"""Moves that are answered at once: saved and audited in the request's transaction, with no operation to wait for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.body import Body
from shared.database.audit import write_entries
from shared.domain.document import Document
from shared.domain.space import Space
from shared.domain.version import Version
from shared.lifecycle.recording import NO_DETAILS, Detail, Stateful, record_transition
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledSpace:
    """A space as a move left it."""

    space: Space
    command: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledDocument:
    """A document as a move left it, with the version that it serves."""

    document: Document
    active: Version | None
    command: None = None


def record_settled(
    conn: Connection,
    action: str,
    before: Stateful,
    after: Stateful,
    request: Request,
    around: Surroundings,
    now: datetime,
    *,
    details: Mapping[str, Detail] = NO_DETAILS,
) -> None:
    """Tell the audit what was asked for, also when it was so already."""
    entries = record_transition(
        before, after, origin=request.origin(), now=now, new_id=around.new_id, action=action, details=details
    )
    write_entries(conn, list(entries))


def changed_fields(body: Body) -> Mapping[str, Detail]:
    """Which fields a caller gave to be changed, without what they hold."""
    return {"fields": ", ".join(sorted(body.model_fields_set - {"expected_version"}))}
