"""Changes what a space is called and how it is described."""

from sqlalchemy import Connection

from shared.contracts.enums import Action, OperationType
from shared.contracts.ids import SpaceId
from shared.contracts.spaces import SpaceUpdateRequest
from shared.database.spaces import save_spaces
from shared.domain.space import described_space, require_current_space, require_open
from shared.lifecycle.changeable import changeable_space
from shared.lifecycle.request import Request
from shared.lifecycle.settling import SettledSpace, changed_fields, record_settled
from shared.lifecycle.surroundings import Surroundings


def update_space(
    conn: Connection, space_id: SpaceId, body: SpaceUpdateRequest, request: Request, around: Surroundings
) -> SettledSpace:
    """Rename or describe the space, from its current `expectedVersion`, while it is ACTIVE."""
    space = changeable_space(conn, space_id, Action.SPACE_UPDATE, request)
    require_open(space)
    require_current_space(space, body.expected_version)
    now = around.clock()
    after = described_space(space, body.name, body.description, now)
    save_spaces(conn, [after])
    action = OperationType.SPACE_UPDATE.value
    record_settled(conn, action, space, after, request, around, now, details=changed_fields(body))
    return SettledSpace(space=after)
