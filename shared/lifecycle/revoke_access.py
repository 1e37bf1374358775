"""Takes a grant back. From the commit on, whoever had nothing else sees nothing any more."""

from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import DocumentId, SpaceId
from shared.database.grants import Grant, delete_grants, find_grant
from shared.domain.authorization import Principal, reach
from shared.domain.errors import NotFound
from shared.lifecycle.administering import Administered
from shared.lifecycle.grant_access import told_of_grant
from shared.lifecycle.managed import require_managed_space
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import record_told

REVOKED: Final = "ACCESS_REVOKE"
"""What the audit calls it."""


class GrantNotFound(NotFound):
    """Nothing of the kind is granted. An answer of success would let a misspelt name pass for a door that is shut."""

    message = "This is not granted to this user, group or role."


def revoke_access(
    conn: Connection,
    space_id: SpaceId,
    document_id: DocumentId | None,
    principal: Principal,
    request: Request,
    around: Surroundings,
) -> Administered[Grant]:
    """Take back exactly this grant, also that of a document that is gone; other grants stay."""
    require_managed_space(conn, reach(request.caller, Action.MANAGE_ACCESS, request.roles), space_id)
    grant = find_grant(conn, request.caller.tenant, space_id, document_id, principal)
    if grant is None:
        raise GrantNotFound
    delete_grants(conn, [grant])
    record_told(conn, told_of_grant(REVOKED, grant), request, around, around.clock())
    return Administered(kept=grant)
