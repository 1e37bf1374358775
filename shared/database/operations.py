"""Operations as rows."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from shared.contracts.ids import CommandId, DocumentId, SpaceId
from shared.database.codec import RowCodec, one
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import UNFINISHED, OperationRow
from shared.domain.operation import Operation

_TABLE = table_of(OperationRow)
OPERATION_CODEC = RowCodec(
    _TABLE,
    Operation,
    {
        "work": one("work_command_id", CommandId.parse, str),
        "cancel": one("cancel_command_id", CommandId.parse, str),
    },
)
_ROWS = TableRows(_TABLE, OPERATION_CODEC.columns)
_CHANGING = (
    "status",
    "work_command_id",
    "cancel_command_id",
    "retry_count",
    "last_retry_at",
    "next_retry_at",
    "cancel_requested_at",
    "failure_reason",
    "failure_text",
    "is_retryable",
    "started_at",
    "heard_at",
    "ended_at",
    "updated_at",
)


def load_operations(conn: Connection, ids: Collection[str], *, lock: Lock = Lock.NONE) -> dict[str, Operation]:
    """The operations with these ids, by id; ids that name none are left out."""
    return {operation.id: operation for operation in OPERATION_CODEC.read(_ROWS.by_key(conn, ids, lock))}


def insert_operations(conn: Connection, operations: Sequence[Operation]) -> None:
    """Store new operations. UniqueViolation("operation_one_at_a_time") when one already runs on the document."""
    _ROWS.insert(conn, OPERATION_CODEC.write(operations))


def save_operations(conn: Connection, operations: Sequence[Operation]) -> None:
    """Store what may change of operations that are there."""
    _ROWS.update(conn, _CHANGING, OPERATION_CODEC.write(operations, (*_CHANGING, "id")))


def find_running(
    conn: Connection, *, space_id: SpaceId | None = None, document_id: DocumentId | None = None
) -> list[Operation]:
    """The operations on a document, or else on a space and all in it, that have not ended; oldest first."""
    if document_id is not None:
        condition, owner = f"document_id = :owner AND {UNFINISHED}", str(document_id)
    else:
        condition, owner = f"space_id = :owner AND {UNFINISHED}", str(space_id)
    return OPERATION_CODEC.read(_ROWS.where(conn, condition, order=("created_at", "id"), owner=owner))


def count_unfinished(conn: Connection, space_id: SpaceId) -> int:
    """How many operations on the space and all in it have not ended."""
    text = f"SELECT count(*) FROM operation WHERE space_id = :space AND {UNFINISHED}"  # noqa: S608 - a constant
    return int(run(conn, text, space=space_id).scalar_one())
