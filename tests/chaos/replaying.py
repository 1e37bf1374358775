"""Applies every event that the stream holds once more, twice each, to a copy of the database: nothing may change."""

import random
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import psycopg
from pydantic import SecretStr

from shared.contracts.ids import CommandId
from shared.database.database import open_database
from shared.database.settings import DatabaseSettings
from shared.lifecycle.apply_events import ReceivedEvent, apply_events
from shared.lifecycle.surroundings import Surroundings
from shared.messaging.codec import read_event
from shared.messaging.connection import connect
from shared.messaging.errors import UnreadableMessage
from shared.messaging.reader import EventReader
from shared.messaging.settings import MessagingSettings
from tests.chaos.stage import DATABASE, Stage

COPY: Final = "chaos_again"
BATCH: Final = 100
STATES: Final[dict[str, str]] = {
    "operation": "id, status, work_command_id, cancel_command_id, retry_count, next_retry_at, last_retry_at,"
    " version_id, failure_reason, is_retryable, ended_at",
    "document": "id, status, active_version_id, candidate_version_id, lock_version, last_version_number",
    "document_version": "id, status, native_document_id, chunk_count, operation_id, failure_reason, is_retryable",
    "space": "id, status, lock_version, native_id",
    "file": "id, status",
}
"""States, pointers and counters; what only tells when something was last heard of is left out."""
ALSO: Final[dict[str, str]] = {
    "purge": "id, status, attempt, issue, due_at",
    "outbox": "command_id, published_at",
    "audit_entry": "id, actor, action, resource_id, operation_id, before, after, outcome, details::text",
}
"""What an event that the inbox knows does not add to. One that it does not know has what a gone version left behind
removed once more, by exactly its id, and tells the audit so."""
OWN_WORK: Final = frozenset({"upload", "ingest", "reindex", "provision", "remove"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What came of it."""

    events: int
    changes: Sequence[str]
    attempts: Mapping[str, int]
    """The highest attempt reported of each operation's own work."""


async def read_events(stage: Stage) -> list[ReceivedEvent]:
    """Everything in the events stream, in its order."""
    settings = MessagingSettings(url=SecretStr(stage.broker_url()), fetch_timeout=timedelta(seconds=1))
    connection = await connect(settings, name="chaos", on_closed=lambda _: None)
    found: list[ReceivedEvent] = []
    try:
        reader = EventReader(connection, settings)
        last = (await reader.look()).last_sequence
        if last == 0:
            return found
        async with aclosing(reader.read(0)) as batches:
            async for batch in batches:
                for message in batch:
                    try:
                        found.append(ReceivedEvent(read_event(message.body, message.headers)))
                    except UnreadableMessage:
                        continue
                if not batch or batch[-1].sequence >= last:
                    return found
    finally:
        await connection.close()
    return found


async def replay(stage: Stage, received: Sequence[ReceivedEvent], dice: random.Random) -> Replay:
    """Apply them twice each: with the inbox that knows them, then without one; then again in another order."""
    stage.postgres.drop_database(COPY)
    url = stage.postgres.create_database(COPY, template=DATABASE)
    plain = url.replace("+psycopg", "")
    before, everything = _states(plain, STATES), _states(plain, STATES | ALSO)
    changes = await _apply(url, [one for event in received for one in (event, event)])
    changes += _differences("with the inbox", everything, _states(plain, STATES | ALSO))
    _forget_inbox(plain)
    changes += await _apply(url, [one for event in received for one in (event, event)])
    changes += _differences("without the inbox", before, _states(plain, STATES))
    _forget_inbox(plain)
    changes += await _apply(url, dice.sample(received, len(received)))
    changes += _differences("in another order", before, _states(plain, STATES))
    return Replay(events=len(received), changes=changes, attempts=_attempts(received))


async def _apply(url: str, received: Sequence[ReceivedEvent]) -> list[str]:
    database = open_database(DatabaseSettings(url=SecretStr(url)))
    around = Surroundings()
    try:
        for first in range(0, len(received), BATCH):
            batch = received[first : first + BATCH]
            await database.write(lambda conn, batch=batch: apply_events(conn, batch, around))  # type: ignore[misc]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what applying an event again has done
        return [f"applying events again failed: {error!r}"]
    finally:
        await database.close()
    return []


def _attempts(received: Sequence[ReceivedEvent]) -> Mapping[str, int]:
    highest: dict[str, int] = {}
    for one in received:
        command = CommandId.parse(one.event.command_id)
        if command.step.value in OWN_WORK:
            highest[command.owner] = max(highest.get(command.owner, 0), command.attempt)
    return highest


def _states(url: str, columns_of: Mapping[str, str]) -> Mapping[tuple[str, str], Sequence[object]]:
    with psycopg.connect(url) as connection:
        return {
            (table, str(row[0])): row[1:]
            for table, columns in columns_of.items()
            for row in connection.execute(f"SELECT {columns} FROM {table}")  # noqa: S608 - names of ours only
        }


def _forget_inbox(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM inbox")


def _differences(
    how: str, before: Mapping[tuple[str, str], Sequence[object]], after: Mapping[tuple[str, str], Sequence[object]]
) -> list[str]:
    return [
        f"applying events again {how} made {table} {key} {after.get((table, key))} of {before.get((table, key))}"
        for table, key in sorted(before.keys() | after.keys())
        if before.get((table, key)) != after.get((table, key))
    ]
