"""Creates a space: the row, a grant to its creator, and the operation that provisions it."""

from sqlalchemy import Connection

from shared.contracts.commands import ProviderProfile
from shared.contracts.enums import Action, OperationType, PrincipalKind, SpaceStatus
from shared.contracts.ids import SpaceId
from shared.contracts.spaces import SpaceCreateRequest
from shared.database.grants import Grant, insert_grants
from shared.database.spaces import code_is_taken, insert_spaces
from shared.domain.authorization import Principal, reach, require_domain
from shared.domain.errors import Conflict, FieldFault
from shared.domain.space import Space
from shared.domain.work import Work
from shared.lifecycle.acceptance import Accepted, Change, accept, new_operation
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


def create_space(
    conn: Connection, body: SpaceCreateRequest, profile: ProviderProfile, request: Request, around: Surroundings
) -> Accepted:
    """Accept a new space; it is CREATING until its provider side is there."""
    caller = request.caller
    reach(caller, Action.SPACE_CREATE, request.roles)
    require_domain(caller, body.default_security_domain_code)
    if code_is_taken(conn, caller.tenant, body.code):
        raise Conflict(
            "The code is already used by another space.",
            faults=(FieldFault("$.code", "TAKEN", "Another space of this tenant has this code."),),
        )
    now = around.clock()
    space = Space(
        id=SpaceId(around.new_id("spc")),
        tenant_id=caller.tenant,
        code=body.code,
        name=body.name,
        description=body.description,
        profile=profile,
        security_domain=body.default_security_domain_code,
        status=SpaceStatus.CREATING,
        lock_version=1,
        native_id=None,
        created_by=caller.subject,
        created_at=now,
        updated_at=now,
    )
    insert_spaces(conn, [space])
    owner = Principal(PrincipalKind.USER, caller.subject)
    insert_grants(
        conn,
        [Grant(tenant_id=caller.tenant, space_id=space.id, principal=owner, created_by=caller.subject, created_at=now)],
    )
    operation = new_operation(OperationType.SPACE_CREATE, space, None, request, around, now)
    return accept(conn, Work(operation=operation, space=space), [Change(None, space)], request, around, now)
