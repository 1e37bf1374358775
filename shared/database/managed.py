"""What those may act on who manage spaces and access: by tenant and security domain, without a grant of their own."""

from sqlalchemy import Connection

from shared.contracts.ids import SpaceId
from shared.database.joined import Part
from shared.database.predicate import SPACE_IN_REACH, reach_parameters
from shared.database.spaces import SPACE_CODEC
from shared.database.sql import run
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import SpaceRow
from shared.domain.authorization import Reach
from shared.domain.space import Space

_SPACE = Part(table_of(SpaceRow), SPACE_CODEC)


def managed_space(conn: Connection, reach: Reach, space_id: SpaceId) -> Space | None:
    """The space, unless it is absent, foreign, DELETED or in a security domain that is not the caller's.

    `reach` is that of one of the actions `MANAGE_*`.
    """
    columns = _SPACE.columns(conn.dialect.name)
    text = f"SELECT {columns} FROM space WHERE space.id = :id AND space.status <> 'DELETED' AND {SPACE_IN_REACH}"  # noqa: S608 - names of ours only
    parameters = reach_parameters(reach)
    rows = run(conn, text, id=space_id, tenant=parameters["tenant"], domains=parameters["domains"]).all()
    return next(iter(_SPACE.read(rows)), None)
