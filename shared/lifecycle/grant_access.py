"""Grants a space, or one document of it, to a user, a group or a role. It holds from the commit on."""

from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action, ResourceType
from shared.contracts.ids import DocumentId, SpaceId
from shared.database.documents import load_documents
from shared.database.grants import Grant, find_grant, insert_grants
from shared.domain.authorization import Principal, reach
from shared.domain.errors import DocumentNotFound
from shared.lifecycle.administering import Administered
from shared.lifecycle.managed import require_managed_space
from shared.lifecycle.recording import Detail
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told

GRANTED: Final = "ACCESS_GRANT"
"""What the audit calls it."""


def grant_access(
    conn: Connection,
    space_id: SpaceId,
    document_id: DocumentId | None,
    principal: Principal,
    request: Request,
    around: Surroundings,
) -> Administered[Grant]:
    """Grant it; what is granted already stays as it is and is answered as it is."""
    require_managed_space(conn, reach(request.caller, Action.MANAGE_ACCESS, request.roles), space_id)
    if document_id is not None:
        _require_document(conn, space_id, document_id)
    now = around.clock()
    grant = Grant(
        tenant_id=request.caller.tenant,
        space_id=space_id,
        document_id=document_id,
        principal=principal,
        created_by=request.caller.subject,
        created_at=now,
    )
    kept = _insert(conn, grant)
    record_told(conn, told_of_grant(GRANTED, kept), request, around, now)
    return Administered(kept=kept)


def told_of_grant(action: str, grant: Grant) -> Told:
    """What the audit is told of a grant."""
    details: dict[str, Detail] = {"principal": f"{grant.principal.kind.value}:{grant.principal.name}"}
    if grant.document_id is not None:
        details["document"] = grant.document_id
    return Told(action=action, resource=ResourceType.SPACE, resource_id=grant.space_id, details=details)


def _require_document(conn: Connection, space_id: SpaceId, document_id: DocumentId) -> None:
    document = load_documents(conn, {document_id}).get(document_id)
    if document is None or document.space_id != space_id or document.is_hidden:
        raise DocumentNotFound


def _insert(conn: Connection, grant: Grant) -> Grant:
    while True:  # what was there when we inserted may be taken back when we look
        insert_grants(conn, [grant])
        kept = find_grant(conn, grant.tenant_id, grant.space_id, grant.document_id, grant.principal)
        if kept is not None:
            return kept
