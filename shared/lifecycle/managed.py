"""Refuses what is not the caller's to manage."""

from sqlalchemy import Connection

from shared.contracts.ids import OperationId, SpaceId
from shared.database.managed import is_space_managed, managed_operation
from shared.domain.authorization import Reach
from shared.domain.errors import OperationNotFound, SpaceNotFound
from shared.domain.operation import Operation


def require_managed_space(conn: Connection, reach: Reach, space_id: SpaceId) -> None:
    """Refuse a space that is not the caller's to manage; a grant of their own is not needed.

    `reach` is that of one of the actions `MANAGE_*`.
    """
    if not is_space_managed(conn, reach, space_id):
        raise SpaceNotFound


def require_managed_operation(conn: Connection, reach: Reach, operation_id: OperationId) -> Operation:
    """Refuse an operation that is not the caller's to manage; a grant of their own is not needed.

    `reach` is that of `MANAGE_OPERATIONS`.
    """
    operation = managed_operation(conn, reach, operation_id)
    if operation is None:
        raise OperationNotFound
    return operation
