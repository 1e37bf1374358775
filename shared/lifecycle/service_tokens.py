"""Moves of the tokens that tenants make: created, with nothing but a hash kept, and revoked for good."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from shared.auth.service_tokens import NewToken
from shared.contracts.admin import ServiceTokenRequest
from shared.contracts.enums import Action
from shared.database.locking import Lock
from shared.database.service_tokens import StoredToken, insert_tokens, load_token, save_tokens
from shared.domain.authorization import require_action
from shared.domain.errors import NotFound
from shared.lifecycle.administering import Administered
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told

CREATED: Final = "TOKEN_CREATE"
REVOKED: Final = "TOKEN_REVOKE"
"""What the audit calls the two moves."""


class TokenNotFound(NotFound):
    """No token of the caller's tenant has this id."""

    message = "There is no such service token."


def create_service_token(
    conn: Connection, new: NewToken, body: ServiceTokenRequest, request: Request, around: Surroundings
) -> Administered[StoredToken]:
    """Keep what recognises the token; it speaks for the caller's tenant alone."""
    require_action(request.caller, Action.MANAGE_TOKENS, request.roles)
    now = around.clock()
    life = body.expires_in_seconds
    token = StoredToken(
        id=new.id,
        tenant_id=request.caller.tenant,
        service=body.service,
        sha256=new.sha256,
        created_by=request.caller.subject,
        created_at=now,
        expires_at=None if life is None else now + timedelta(seconds=life),
    )
    insert_tokens(conn, [token])
    told = Told(action=CREATED, resource_id=token.id, details={"service": token.service, "seconds": life})
    record_told(conn, told, request, around, now)
    return Administered(kept=token)


def revoke_service_token(
    conn: Connection, token_id: str, request: Request, around: Surroundings
) -> Administered[StoredToken]:
    """End a token from the commit on; one that is revoked stays as it is."""
    require_action(request.caller, Action.MANAGE_TOKENS, request.roles)
    token = load_token(conn, request.caller.tenant, token_id, lock=Lock.UPDATE)
    if token is None:
        raise TokenNotFound
    now = around.clock()
    after = token if token.revoked_at is not None else replace(token, revoked_at=now)
    save_tokens(conn, [after])
    told = Told(action=REVOKED, resource_id=token_id, details={"service": token.service})
    record_told(conn, told, request, around, now)
    return Administered(kept=after)
