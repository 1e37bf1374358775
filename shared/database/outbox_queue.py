"""The outbox as a queue: what is due, taken in turns over tenants, and how much there is of what."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import Connection

from shared.contracts.enums import Step
from shared.database.codec import RowCodec
from shared.database.outbox import OutboxCommand
from shared.database.settings import SQLITE
from shared.database.sql import run
from shared.database.tables.columns import from_microseconds, table_of, to_microseconds
from shared.database.tables.pipeline import OutboxRow

UNLIMITED = 2**31 - 1

_CODEC = RowCodec(table_of(OutboxRow), OutboxCommand)

# The tenants that wait are found by skipping through the index from one to the next, and of each only
# its first rows are looked at, so the cost grows with tenants and `limit` and not with the backlog.
# A row's place counts what its tenant has out already: who has least comes first.
_DUE = """
WITH RECURSIVE tenant(id) AS (
    SELECT min(tenant_id) FROM outbox WHERE step = :step AND published_at IS NULL
    UNION ALL
    SELECT (SELECT min(tenant_id) FROM outbox WHERE step = :step AND published_at IS NULL AND tenant_id > tenant.id)
    FROM tenant WHERE tenant.id IS NOT NULL
),
running(tenant_id, total) AS (
    SELECT tenant_id, count(*) FROM outbox
    WHERE step = :step AND published_at IS NOT NULL AND gone_after IS NULL GROUP BY tenant_id
),
placed AS (
    SELECT command.*, coalesce(running.total, 0) + row_number() OVER (
        PARTITION BY command.tenant_id ORDER BY command.due_at, command.command_id
    ) AS place
    FROM tenant {first_of_tenant}
    LEFT JOIN running ON running.tenant_id = command.tenant_id
)
SELECT {columns} FROM placed WHERE place <= :most ORDER BY place, due_at, command_id LIMIT :limit
"""

_FIRST = """SELECT {selected} FROM outbox AS waiting
        WHERE waiting.step = :step AND waiting.published_at IS NULL AND waiting.tenant_id = tenant.id
            AND waiting.due_at <= :now
        ORDER BY waiting.due_at, waiting.command_id LIMIT :limit"""

_WAITING = f"""
SELECT column1 FROM (VALUES {", ".join(f"('{step.value}')" for step in Step)}) AS known
WHERE EXISTS (SELECT 1 FROM outbox WHERE outbox.step = column1 AND published_at IS NULL)
"""  # noqa: S608 - names of ours only

_BACKLOG = """
SELECT step,
    sum(CASE WHEN published_at IS NULL AND due_at <= :now THEN 1 ELSE 0 END),
    sum(CASE WHEN published_at IS NULL AND due_at > :now THEN 1 ELSE 0 END),
    sum(CASE WHEN published_at IS NULL THEN 0 ELSE 1 END),
    min(CASE WHEN published_at IS NULL AND due_at > :now THEN NULL ELSE due_at END)
FROM outbox GROUP BY step
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How many commands of a step there are: queued, waiting for a retry's time, and out at workers."""

    queued: int = 0
    waiting: int = 0
    published: int = 0
    oldest_due_at: datetime | None = None
    """Since when the oldest one that is due or out has been due."""

    @property
    def total(self) -> int:
        """The figure to scale workers on."""
        return self.queued + self.waiting + self.published


def take_due(
    conn: Connection, step: Step, *, limit: int, now: datetime, most_per_tenant: int = UNLIMITED
) -> list[OutboxCommand]:
    """Up to `limit` waiting commands of a step that are due, tenants in turns.

    What a tenant has out already counts as turns it has had; together they never exceed `most_per_tenant`.
    """
    text = _due_text(conn.dialect.name, _CODEC.columns)
    found = run(conn, text, step=step.value, now=to_microseconds(now), most=most_per_tenant, limit=limit)
    return _CODEC.read(found.all())


def count_open(conn: Connection) -> dict[Step, int]:
    """How many commands of each step are in the stream, as far as we know; every step is there.

    One whose message is gone takes no room, even if nothing ever answers it: it may wait for an operator.
    """
    text = "SELECT step, count(*) FROM outbox WHERE published_at IS NOT NULL AND gone_after IS NULL GROUP BY step"
    found = {Step(step): int(total) for step, total in run(conn, text)}
    return {step: found.get(step, 0) for step in Step}


def steps_waiting(conn: Connection) -> set[Step]:
    """The steps of which anything waits, due or not. One look into the index each, whatever the backlog is."""
    return {Step(step) for (step,) in run(conn, _WAITING)}


def measure_backlog(conn: Connection, now: datetime) -> dict[Step, Backlog]:
    """The backlog of each step; every step is there."""
    rows = run(conn, _BACKLOG, now=to_microseconds(now)).all()
    found = {
        Step(step): Backlog(
            queued=int(queued), waiting=int(waiting), published=int(out), oldest_due_at=from_microseconds(oldest)
        )
        for step, queued, waiting, out, oldest in rows
    }
    return {step: found.get(step, Backlog()) for step in Step}


@cache
def _due_text(dialect: str, columns: Sequence[str]) -> str:
    if dialect == SQLITE:
        first = f"JOIN outbox AS command ON command.rowid IN ({_FIRST.format(selected='waiting.rowid')})"
    else:
        first = f"CROSS JOIN LATERAL ({_FIRST.format(selected='waiting.*')}) AS command"
    return _DUE.format(first_of_tenant=first, columns=", ".join(columns))
