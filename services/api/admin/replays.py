"""Who may have an administrator's answer repeated: whoever may still do what it answered."""

from sqlalchemy import Connection

from services.api.edge.call import Call
from shared.contracts.enums import Action
from shared.contracts.ids import SpaceId
from shared.database.managed import managed_space
from shared.domain.authorization import RoleTable, reach, require_action
from shared.domain.errors import SpaceNotFound
from shared.lifecycle.once import Reauthorise


def may_manage(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers about the tenant."""

    def reauthorise(conn: Connection, content: str) -> None:
        require_action(call.caller, action, roles)

    return reauthorise


def may_manage_space(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers about the space in the path."""
    space_id = call.id("spaceId", SpaceId)

    def reauthorise(conn: Connection, content: str) -> None:
        if managed_space(conn, reach(call.caller, action, roles), space_id) is None:
            raise SpaceNotFound

    return reauthorise
