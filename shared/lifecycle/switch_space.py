"""Takes a space out of use and back into it. What is in it stays as it is, neither changed nor found meanwhile."""

from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import SpaceId
from shared.database.locking import Lock
from shared.database.spaces import load_spaces, save_spaces
from shared.domain.authorization import reach
from shared.domain.space import switched_space
from shared.lifecycle.managed import require_managed_space
from shared.lifecycle.recording import reason_details
from shared.lifecycle.request import Request
from shared.lifecycle.settling import SettledSpace, record_settled
from shared.lifecycle.surroundings import Surroundings

ENABLED: Final = "SPACE_ENABLE"
DISABLED: Final = "SPACE_DISABLE"
"""What the audit calls the two moves."""


def switch_space(
    conn: Connection, space_id: SpaceId, *, enabled: bool, reason: str | None, request: Request, around: Surroundings
) -> SettledSpace:
    """Enable or disable a space that is ACTIVE or DISABLED; one that is so already stays as it is."""
    require_managed_space(conn, reach(request.caller, Action.MANAGE_SPACES, request.roles), space_id)
    space = load_spaces(conn, {space_id}, lock=Lock.UPDATE)[space_id]
    now = around.clock()
    after = switched_space(space, enabled, now)
    if after is not space:
        save_spaces(conn, [after])
    action = ENABLED if enabled else DISABLED
    record_settled(conn, action, space, after, request, around, now, details=reason_details(reason))
    return SettledSpace(space=after)
