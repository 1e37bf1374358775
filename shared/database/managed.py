"""What those may act on who manage spaces and access: by tenant and security domain, without a grant of their own."""

from sqlalchemy import Connection

from shared.contracts.ids import OperationId, SpaceId
from shared.database.operations import OPERATION_CODEC
from shared.database.predicate import SPACE_IN_REACH, domain_parameters
from shared.database.sql import run, selected
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import OperationRow
from shared.domain.authorization import Reach
from shared.domain.operation import Operation

_SPACE = f"SELECT 1 FROM space WHERE space.id = :id AND space.status <> 'DELETED' AND {SPACE_IN_REACH}"  # noqa: S608 - names of ours only


_OPERATION = f"""FROM operation CROSS JOIN space
    WHERE operation.id = :id AND space.id = operation.space_id AND {SPACE_IN_REACH}"""


def is_space_managed(conn: Connection, reach: Reach, space_id: SpaceId) -> bool:
    """Whether the space is the caller's to manage: not absent, foreign, DELETED or in another security domain.

    `reach` is that of one of the actions `MANAGE_*`.
    """
    return run(conn, _SPACE, id=space_id, **domain_parameters(reach)).first() is not None


def managed_operation(conn: Connection, reach: Reach, operation_id: OperationId) -> Operation | None:
    """The operation, whatever has become of what it is about; None if it is absent, foreign or in another domain.

    `reach` is that of `MANAGE_OPERATIONS`.
    """
    columns = selected(conn.dialect.name, table_of(OperationRow), OPERATION_CODEC.columns)
    text = f"SELECT {columns} {_OPERATION}"
    rows = run(conn, text, id=operation_id, **domain_parameters(reach)).all()
    return next(iter(OPERATION_CODEC.read(rows)), None)
