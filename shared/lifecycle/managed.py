"""Refuses what is not the caller's to manage."""

from sqlalchemy import Connection

from shared.contracts.ids import SpaceId
from shared.database.managed import is_space_managed
from shared.domain.authorization import Reach
from shared.domain.errors import SpaceNotFound


def require_managed_space(conn: Connection, reach: Reach, space_id: SpaceId) -> None:
    """Refuse a space that is not the caller's to manage; a grant of their own is not needed.

    `reach` is that of one of the actions `MANAGE_*`.
    """
    if not is_space_managed(conn, reach, space_id):
        raise SpaceNotFound
