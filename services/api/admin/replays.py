"""Who may have an answer about the tenant repeated: whoever may still do what it answered."""

from sqlalchemy import Connection

from services.api.edge.call import Call
from shared.contracts.enums import Action
from shared.domain.authorization import RoleTable, require_action
from shared.lifecycle.once import Reauthorise


def may_manage(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers about the tenant."""

    def reauthorise(conn: Connection, content: str) -> None:
        require_action(call.caller, action, roles)

    return reauthorise
