"""Lets a request with an idempotency key take effect once: whoever sends it again gets the answer of the first time.

The key is taken, the move made and the answer kept in one transaction, so there is no moment at which one of them
holds without the others. Of equal requests that come at once, one makes the move and the others wait for its answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from shared.database.audit import write_entries
from shared.database.idempotency import RESERVED, RequestKey, StoredAnswer, complete_answer, reserve_answer
from shared.database.outbox import OutboxCommand
from shared.domain.audit import AuditEntry, Outcome
from shared.domain.errors import Conflict, FieldFault
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings

KEY_FIELD: Final = "Idempotency-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a request came to: its answer, and the command that its sender may publish at once."""

    status: int
    content: str
    """What is answered, as JSON."""
    command: OutboxCommand | None = None
    is_replay: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedRequest:
    """A request with its key. `digest` is the SHA-256, in hex, of the canonical request."""

    key: RequestKey
    digest: str
    request: Request


Act = Callable[[Connection], Effect]
"""Makes the move."""

Reauthorise = Callable[[Connection, str], None]
"""Raises what a caller is to get who may not see the kept answer any more."""


def once(conn: Connection, keyed: KeyedRequest, act: Act, *, reauthorise: Reauthorise, around: Surroundings) -> Effect:
    """Make the move, or repeat its answer. Conflict when another request was answered under the key."""
    reserved = _unfinished(keyed, around)
    kept = reserve_answer(conn, reserved)
    if kept is None:
        effect = act(conn)
        complete_answer(conn, replace(reserved, status_code=effect.status, data=effect.content))
        return effect
    if kept.request_digest != keyed.digest:
        fault = FieldFault(KEY_FIELD, "REUSED", "The key has been used for another request.")
        raise Conflict("The idempotency key has been used for another request.", faults=(fault,))
    reauthorise(conn, kept.data)
    write_entries(conn, [_replayed(keyed, around)])
    return Effect(status=kept.status_code, content=kept.data, is_replay=True)


def _unfinished(keyed: KeyedRequest, around: Surroundings) -> StoredAnswer:
    now = around.clock()
    return StoredAnswer(
        tenant_id=keyed.key.tenant_id,
        subject=keyed.key.subject,
        route=keyed.key.route,
        key=keyed.key.key,
        request_digest=keyed.digest,
        status_code=RESERVED,
        data="{}",
        created_at=now,
        expires_at=now + around.settings.answers_kept,
    )


def _replayed(keyed: KeyedRequest, around: Surroundings) -> AuditEntry:
    return AuditEntry(
        id=around.new_id("aud"),
        tenant_id=keyed.key.tenant_id,
        at=around.clock(),
        origin=keyed.request.origin(),
        action=keyed.key.route,
        outcome=Outcome.REPLAYED,
    )
