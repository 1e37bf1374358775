"""The inbox: the ids of events that have been applied. It outlives the events."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.ids import EventId
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.pipeline import InboxRow

_IDS = TableRows(table_of(InboxRow), ("event_id",), key=("event_id",))
_FORGET = """
DELETE FROM inbox WHERE event_id IN (
    SELECT event_id FROM inbox WHERE applied_at < :before ORDER BY applied_at LIMIT :most
)
"""
_ROWS = TableRows(table_of(InboxRow), ("event_id", "applied_at"), key=("event_id",))


def known_events(conn: Connection, event_ids: Collection[EventId]) -> set[EventId]:
    """Those of the events that have been applied."""
    return {EventId(event_id) for (event_id,) in _IDS.by_key(conn, event_ids)}


def remember_events(conn: Connection, event_ids: Collection[EventId], now: datetime) -> None:
    """Note events as applied. UniqueViolation("inbox_pkey") when one was applied before."""
    _ROWS.insert(conn, [list(event_ids), [to_microseconds(now)] * len(event_ids)])


def drop_event(conn: Connection, event_id: EventId) -> None:
    """Make an event unknown again, because it is to be applied after all."""
    run(conn, "DELETE FROM inbox WHERE event_id = :event", event=event_id)


def forget_events(conn: Connection, before: datetime, *, limit: int) -> int:
    """Drop up to `limit` ids of events applied before then, which the stream has dropped long ago; how many."""
    return run(conn, _FORGET, before=to_microseconds(before), most=limit).rowcount
