"""Operations that have not ended, the one that has been still for longest first, with what each of them waits for."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import LetterKind, OperationType
from shared.contracts.ids import CommandId, LetterId, OperationId, TenantId
from shared.database.dead_letters import unsettled_letters
from shared.database.operations import OPERATION_CODEC
from shared.database.outbox import find_commands
from shared.database.predicate import SPACE_IN_REACH, domain_parameters
from shared.database.purges import find_purges_of
from shared.database.sql import run, selected
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.knowledge import UNFINISHED, OperationRow
from shared.domain.authorization import Reach
from shared.domain.operation import Operation
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.unfinished import OpenCommand, Unfinished

_TABLE = table_of(OperationRow)
_STILL_SINCE: Final = """CASE WHEN operation.next_retry_at > operation.updated_at
    THEN operation.next_retry_at ELSE operation.updated_at END"""
_UNFINISHED: Final = f"operation.{UNFINISHED}"
_CHOSEN: Final = f"""FROM operation CROSS JOIN space
    WHERE space.id = operation.space_id AND operation.tenant_id = :tenant AND {_UNFINISHED} AND {SPACE_IN_REACH}
        AND {_STILL_SINCE} < :before"""
_BESIDE: Final = f"""
SELECT document_id, id FROM operation
WHERE document_id AMONG :documents AND {_UNFINISHED} AND type <> 'DOCUMENT_DELETE' ORDER BY created_at, id
"""  # noqa: S608 - as above


def page_of_unfinished(
    conn: Connection, reach: Reach, *, still_before: datetime, page: int, page_size: int
) -> tuple[list[Operation], int]:
    """One page of the tenant's unfinished operations that have not moved since before then, and how many there are.

    Those in the caller's security domains; a grant is not asked for. `reach` is that of `MANAGE_OPERATIONS`.
    """
    columns = selected(conn.dialect.name, _TABLE, OPERATION_CODEC.columns)
    text = f"""
        SELECT page.*, total.number FROM (SELECT count(*) AS number {_CHOSEN}) AS total
        LEFT JOIN (
            SELECT {columns}, {_STILL_SINCE} AS still_since {_CHOSEN}
            ORDER BY still_since, operation.id LIMIT :size OFFSET :skip
        ) AS page ON true
        ORDER BY page.still_since, page.id
    """  # noqa: S608 - names of ours only
    rows = run(
        conn,
        text,
        before=to_microseconds(still_before),
        size=page_size,
        skip=(page - 1) * page_size,
        **domain_parameters(reach),
    ).all()
    found = [row[:-2] for row in rows if row[0] is not None]
    return OPERATION_CODEC.read(found), int(rows[0][-1])


def overdue_operations(
    conn: Connection, tenant_id: TenantId | None, *, still_before: datetime, limit: int
) -> tuple[list[Operation], int]:
    """Up to `limit` unfinished operations of a tenant, or of all, that have not moved since before then, and how many
    there are.
    """
    whose = "true" if tenant_id is None else "operation.tenant_id = :tenant"
    chosen = f"FROM operation WHERE {whose} AND {_UNFINISHED} AND {_STILL_SINCE} < :before"
    columns = selected(conn.dialect.name, _TABLE, OPERATION_CODEC.columns)
    before = to_microseconds(still_before)
    number = run(conn, f"SELECT count(*) {chosen}", before=before, tenant=tenant_id).scalar_one()
    text = f"SELECT {columns} {chosen} ORDER BY {_STILL_SINCE}, operation.id LIMIT :limit"
    rows = run(conn, text, before=before, tenant=tenant_id, limit=limit).all()
    return OPERATION_CODEC.read(rows), int(number)


def look_into(conn: Connection, operations: Sequence[Operation]) -> list[Unfinished]:
    """What is known of what each of these operations waits for, in their order."""
    deletes = [operation for operation in operations if operation.type is OperationType.DOCUMENT_DELETE]
    purges = _purges_of(conn, deletes)
    owners = {operation.id: {str(operation.id), *(one.id for one in purges[operation.id])} for operation in operations}
    everyone = {owner for of_one in owners.values() for owner in of_one}
    commands = _commands_of(conn, everyone)
    letters = _letters_of(conn, everyone)
    beside = _beside(conn, deletes)
    return [
        Unfinished(
            operation=operation,
            commands=tuple(command for owner in sorted(owners[operation.id]) for command in commands[owner]),
            letter_id=min((letters[owner] for owner in owners[operation.id] if owner in letters), default=None),
            purges=tuple(purges[operation.id]),
            waits_for=tuple(beside[operation.document_id or ""]) if operation in deletes else (),
        )
        for operation in operations
    ]


def _purges_of(conn: Connection, deletes: Sequence[Operation]) -> defaultdict[str, list[Purge]]:
    found: defaultdict[str, list[Purge]] = defaultdict(list)
    for purge in find_purges_of(conn, {delete.id for delete in deletes}):
        if purge.status is not PurgeStatus.DONE:
            found[str(purge.operation_id)].append(purge)
    return found


def _commands_of(conn: Connection, owner_ids: set[str]) -> defaultdict[str, list[OpenCommand]]:
    found: defaultdict[str, list[OpenCommand]] = defaultdict(list)
    for row in find_commands(conn, owner_ids):
        command = OpenCommand(id=CommandId.parse(row.command_id), due_at=row.due_at, published_at=row.published_at)
        found[row.owner_id].append(command)
    return found


def _letters_of(conn: Connection, owner_ids: set[str]) -> Mapping[str, LetterId]:
    """Of each the oldest event that nobody could apply; ids tell the time."""
    letters = [letter for letter in unsettled_letters(conn, owner_ids) if letter.kind is LetterKind.EVENT]
    return {letter.owner_id: letter.id for letter in reversed(letters)}


def _beside(conn: Connection, deletes: Sequence[Operation]) -> defaultdict[str, list[OperationId]]:
    """By document, what runs on it beside its delete."""
    found: defaultdict[str, list[OperationId]] = defaultdict(list)
    documents = {str(delete.document_id) for delete in deletes}
    if documents:
        for document_id, operation_id in run(conn, _BESIDE, documents=documents):
            found[document_id].append(OperationId(operation_id))
    return found
