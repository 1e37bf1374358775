"""Operations as rows."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from shared.contracts.ids import CommandId, DocumentId, OperationId, SpaceId, TenantId
from shared.database.codec import RowCodec, one
from shared.database.locking import Lock
from shared.database.rows import TableRows
from shared.database.settings import SQLITE
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
_TURNS = 20_020_601
"""The first half of the keys of PostgreSQL's advisory locks that tenants' turns are."""
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


def find_ended(conn: Connection, ids: Collection[str]) -> set[str]:
    """Those of these operations that have ended."""
    text = f"SELECT id FROM operation WHERE id AMONG :ids AND NOT {UNFINISHED}"  # noqa: S608 - a constant
    return {row[0] for row in run(conn, text, ids=ids)}


def find_running(
    conn: Connection, *, space_id: SpaceId | None = None, document_id: DocumentId | None = None
) -> list[Operation]:
    """The operations on a document, or else on a space and all in it, that have not ended; oldest first."""
    if document_id is not None:
        condition, owner = f"document_id = :owner AND {UNFINISHED}", str(document_id)
    else:
        condition, owner = f"space_id = :owner AND {UNFINISHED}", str(space_id)
    return OPERATION_CODEC.read(_ROWS.where(conn, condition, order=("created_at", "id"), owner=owner))


def find_deletes_at_rest(conn: Connection, document_ids: Collection[str]) -> list[Operation]:
    """The deletes of these documents that have not begun to purge and that nothing else runs beside; by id."""
    if not document_ids:
        return []
    condition = f"""document_id AMONG :documents AND type = 'DOCUMENT_DELETE' AND status = 'PENDING' AND NOT EXISTS (
        SELECT 1 FROM operation AS other
        WHERE other.document_id = operation.document_id AND other.type <> 'DOCUMENT_DELETE' AND other.{UNFINISHED}
    )"""  # noqa: S608 - a constant
    return OPERATION_CODEC.read(_ROWS.where(conn, condition, order=("id",), documents=document_ids))


def find_retries(conn: Connection, root_id: OperationId) -> list[Operation]:
    """The manual retries of a root operation, also those of its retries; oldest first."""
    condition = "root_id = :root AND parent_id IS NOT NULL"
    return OPERATION_CODEC.read(_ROWS.where(conn, condition, order=("manual_attempt",), root=root_id))


def count_unfinished(conn: Connection, space_id: SpaceId) -> int:
    """How many operations on the space and all in it have not ended."""
    text = f"SELECT count(*) FROM operation WHERE space_id = :space AND {UNFINISHED}"  # noqa: S608 - a constant
    return int(run(conn, text, space=space_id).scalar_one())


def count_unfinished_of_tenant(conn: Connection, tenant_id: TenantId, *, at_most: int) -> int:
    """How many operations of the tenant have not ended, counted no further than `at_most`."""
    text = f"""SELECT count(*) FROM (
        SELECT 1 FROM operation WHERE tenant_id = :tenant AND {UNFINISHED} LIMIT :most
    ) AS unfinished"""  # noqa: S608 - a constant
    return int(run(conn, text, tenant=tenant_id, most=at_most).scalar_one())


def take_tenants_turn(conn: Connection, tenant_id: TenantId) -> None:
    """Wait until no other transaction has the tenant's turn, and keep it to the end of this one.

    Whoever counts what a tenant has then counts everything that was added by those before. SQLite has one writer.
    """
    if conn.dialect.name != SQLITE:
        run(conn, "SELECT pg_advisory_xact_lock(:of, hashtext(:tenant))", of=_TURNS, tenant=tenant_id)
