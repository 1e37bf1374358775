"""Reconciliations that operators ask for; the projector carries them out."""

from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import ReconciliationId
from shared.database.reconciliations import Reconciliation, insert_reconciliation, load_reconciliations
from shared.domain.authorization import RoleTable, allows, require_action
from shared.domain.errors import ReconciliationNotFound
from shared.domain.identity import Caller
from shared.lifecycle.administering import Administered
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told

REQUESTED: Final = "RECONCILIATION_CREATE"
"""What the audit calls the move."""


def request_reconciliation(
    conn: Connection, *, applies: bool, request: Request, around: Surroundings
) -> Administered[Reconciliation]:
    """Have what is known of the caller's tenant compared with what provider and object store hold."""
    require_action(request.caller, Action.MANAGE_OPERATIONS, request.roles)
    now = around.clock()
    new = Reconciliation(
        id=ReconciliationId(around.new_id("rec")),
        tenant_id=request.caller.tenant,
        applies=applies,
        requested_by=request.caller.subject,
        created_at=now,
    )
    insert_reconciliation(conn, new)
    told = Told(action=REQUESTED, resource_id=new.id, after=new.status.value, details={"apply": applies})
    record_told(conn, told, request, around, now)
    return Administered(kept=new)


def sees_reconciliations_of_all(caller: Caller, roles: RoleTable) -> bool:
    """Whether the caller sees the reconciliations of all tenants, which the gateway makes by itself."""
    return allows(caller, Action.MANAGE_SYSTEM, roles)


def require_reconciliation(
    conn: Connection, reconciliation_id: ReconciliationId, caller: Caller, roles: RoleTable
) -> Reconciliation:
    """The reconciliation with its findings, when it is of the caller's tenant."""
    require_action(caller, Action.MANAGE_OPERATIONS, roles)
    found = load_reconciliations(conn, {reconciliation_id}).get(reconciliation_id)
    if found is None:
        raise ReconciliationNotFound
    if found.tenant_id is None:
        is_theirs = sees_reconciliations_of_all(caller, roles)
    else:
        is_theirs = found.tenant_id == caller.tenant
    if not is_theirs:
        raise ReconciliationNotFound
    return found
