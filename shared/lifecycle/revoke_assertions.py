"""Refuses assertions that were issued until now: one of them, those of a session, or those of a user."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from shared.auth.assertions import LEEWAY, LONGEST_LIFE
from shared.contracts.enums import Action, RevocationKind
from shared.database.locking import Lock
from shared.database.revocations import (
    Revocation,
    insert_missing_revocations,
    load_revocation,
    save_revocations,
)
from shared.domain.authorization import require_action
from shared.lifecycle.administering import Administered
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told

REVOKED: Final = "ASSERTION_REVOKE"
"""What the audit calls it."""

KEPT_FOR: Final[timedelta] = LONGEST_LIFE + LEEWAY
"""So long after its time of issue an assertion may still be good."""


def revoke_assertions(
    conn: Connection, kind: RevocationKind, value: str, request: Request, around: Surroundings
) -> Administered[Revocation]:
    """Refuse them from the commit on.

    An issuer's clock may be ahead of ours by the leeway, so one that is dated up to then counts as issued until now.
    """
    require_action(request.caller, Action.MANAGE_ACCESS, request.roles)
    now = around.clock()
    revocation = Revocation(
        tenant_id=request.caller.tenant,
        kind=kind,
        value=value,
        issued_until=now + LEEWAY,
        created_by=request.caller.subject,
        created_at=now,
        expires_at=now + LEEWAY + KEPT_FOR,
    )
    kept = _save(conn, revocation)
    told = Told(action=REVOKED, resource_id=value, details={"kind": kind.value})
    record_told(conn, told, request, around, now)
    return Administered(kept=kept)


def _save(conn: Connection, revocation: Revocation) -> Revocation:
    """One that was there before reaches as far as this one from now on."""
    insert_missing_revocations(conn, [revocation])
    kept = load_revocation(conn, revocation.tenant_id, revocation.kind, revocation.value, lock=Lock.UPDATE)
    if kept is None or kept.issued_until >= revocation.issued_until:
        return kept or revocation
    kept = replace(revocation, created_at=kept.created_at)
    save_revocations(conn, [kept])
    return kept
