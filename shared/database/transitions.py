"""What callers may be told of what has happened: transitions in the order of their tenant's audit chain."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import ResourceType
from shared.contracts.ids import OperationId
from shared.database.codec import Composed, RowCodec
from shared.database.predicate import DOCUMENT_VISIBLE, reach_parameters
from shared.database.sql import run
from shared.database.tables.access import AuditEntryRow
from shared.database.tables.columns import table_of
from shared.domain.authorization import Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One status that changed, or something new; `seq` is its place in the tenant's audit chain."""

    seq: int
    at: datetime
    action: str
    resource_type: ResourceType
    resource_id: str
    operation_id: OperationId | None
    before: str | None
    after: str


_CODEC = RowCodec(
    table_of(AuditEntryRow),
    Transition,
    {
        "seq": Composed(("seq",), int, lambda seq: (seq,)),
        "resource_type": Composed(("resource_type",), ResourceType, lambda kind: (kind.value,)),
    },
)

SWITCHES = ("SPACE_ENABLE", "SPACE_DISABLE", "DOCUMENT_ENABLE", "DOCUMENT_DISABLE")
"""Moves that may leave everything as it was. The audit keeps that they were asked for; nothing has happened."""

# Each row begins at a link of the chain and goes by keys: to the entry, to what it is about, to that one's document
# and space. Both databases keep the order of outer joins.
_VISIBLE = f"""
SELECT link.seq, entry.at, entry.action, entry.resource_type, entry.resource_id, entry.operation_id,
    entry.before, entry.after
FROM audit_chain AS link CROSS JOIN audit_entry AS entry
LEFT JOIN operation ON entry.resource_type = 'OPERATION' AND operation.id = entry.resource_id
LEFT JOIN document_version AS version ON entry.resource_type = 'VERSION' AND version.id = entry.resource_id
LEFT JOIN document ON document.id = CASE entry.resource_type
    WHEN 'DOCUMENT' THEN entry.resource_id WHEN 'VERSION' THEN version.document_id ELSE operation.document_id END
LEFT JOIN space ON space.id = CASE entry.resource_type
    WHEN 'SPACE' THEN entry.resource_id WHEN 'OPERATION' THEN operation.space_id ELSE document.space_id END
WHERE link.chain = :tenant AND link.seq > :after AND link.seq <= :until AND entry.id = link.entry_id
    AND entry.tenant_id = :tenant AND entry.outcome = 'done' AND entry.after IS NOT NULL
    AND NOT (entry.before = entry.after AND entry.action AMONG :switches)
    AND entry.resource_type AMONG :types AND {DOCUMENT_VISIBLE}
ORDER BY link.seq
"""  # noqa: S608 - names of ours only


def visible_transitions(
    conn: Connection, reach: Reach, types: Collection[ResourceType], *, after: int, until: int
) -> list[Transition]:
    """The transitions of these types of resource on what the caller reaches, from behind `after` up to `until`.

    What is hidden or gone by now is still told to those who reach it: they are to learn that it went.
    """
    wanted = [one.value for one in types]
    rows = run(
        conn, _VISIBLE, after=after, until=until, types=wanted, switches=SWITCHES, **reach_parameters(reach)
    ).all()
    return _CODEC.read(rows)
