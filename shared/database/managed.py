"""What those may act on who manage spaces and access: by tenant and security domain, without a grant of their own."""

from sqlalchemy import Connection

from shared.contracts.ids import SpaceId
from shared.database.predicate import SPACE_IN_REACH, reach_parameters
from shared.database.sql import run
from shared.domain.authorization import Reach

_SPACE = f"SELECT 1 FROM space WHERE space.id = :id AND space.status <> 'DELETED' AND {SPACE_IN_REACH}"  # noqa: S608 - names of ours only


def is_space_managed(conn: Connection, reach: Reach, space_id: SpaceId) -> bool:
    """Whether the space is the caller's to manage: not absent, foreign, DELETED or in another security domain.

    `reach` is that of one of the actions `MANAGE_*`.
    """
    parameters = reach_parameters(reach)
    row = run(conn, _SPACE, id=space_id, tenant=parameters["tenant"], domains=parameters["domains"]).first()
    return row is not None
