"""The invariant that the audit has an entry for each transition, whatever has happened."""

from collections import Counter
from itertools import chain

from sqlalchemy import Connection

from shared.database.sql import run

_TABLES = {"SPACE": "space", "DOCUMENT": "document", "VERSION": "document_version", "OPERATION": "operation"}
_TOLD = """
SELECT resource_type, resource_id, before, after FROM audit_entry
WHERE outcome = 'done' AND after IS NOT NULL AND resource_type IN ('SPACE', 'DOCUMENT', 'VERSION', 'OPERATION')
"""


def untold_transitions(conn: Connection) -> list[str]:
    """What has a status that the audit does not lead to: empty when every transition has its entry.

    Of everything that was ever made, the statuses entered less those left are the one that it has now. So it needs no
    order, which entries of one moment do not have before they are sealed.
    """
    entered: dict[tuple[str, str], Counter[str | None]] = {}
    for kind, resource_id, before, after in run(conn, _TOLD).all():
        balance = entered.setdefault((kind, resource_id), Counter())
        balance[after] += 1
        balance[before] -= 1
    stored = {
        (kind, str(row[0])): str(row[1])
        for kind, table in _TABLES.items()
        for row in run(conn, f"SELECT id, status FROM {table}").all()  # noqa: S608 - names of ours only
    }
    return [
        f"{kind} {resource_id}: {stored.get((kind, resource_id))} is not what {dict(told)} leads to"
        for kind, resource_id in sorted(set(chain(entered, stored)))
        if not _leads_to(told := entered.get((kind, resource_id), Counter()), stored.get((kind, resource_id)))
    ]


def _leads_to(told: Counter[str | None], status: str | None) -> bool:
    """From nothing to the status, and every other one that was entered was left."""
    return status is not None and {name: number for name, number in told.items() if number} == {None: -1, status: 1}
