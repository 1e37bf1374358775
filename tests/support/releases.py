"""An older release beside this one: its bodies are of schema 0, in which the tenant had another name."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import orjson
from sqlalchemy import Connection

from shared.contracts.commands import COMMAND_BY_STEP, COMMANDS, AnyCommand
from shared.contracts.events import EVENT_BY_TYPE, EVENTS, AnyEvent
from shared.contracts.wire import Wire
from shared.database.database import Database
from shared.database.sql import run
from shared.messaging.codec import Body, Schema, version_of

T = TypeVar("T")

NOTHING = b"{}"
"""Neither a command nor an event."""


def raised(body: Body) -> Body:
    """A body of schema 0 as one of schema 1."""
    return {("tenantId" if name == "tenant" else name): value for name, value in body.items()} | {"schemaVersion": 1}


def lowered(body: bytes) -> bytes:
    """A body of schema 1 as the older release would have written it."""
    parsed: dict[str, Any] = orjson.loads(body)
    names = {("tenant" if name == "tenantId" else name): value for name, value in parsed.items()}
    return orjson.dumps(names | {"schemaVersion": 0})


def _own(body: bytes) -> bytes:
    """What the models of the older release make of a body: of one of its own, the fields as ours have them."""
    return orjson.dumps(raised(orjson.loads(body))) if version_of(body) == 0 else NOTHING


def _read_command(body: bytes) -> AnyCommand:
    return COMMANDS.validate_json(_own(body))


def _read_event(body: bytes) -> AnyEvent:
    return EVENTS.validate_json(_own(body))


def _written(message: Wire) -> bytes:
    return lowered(message.to_json())


OLDER = Schema(version=0, upcasters={}, commands=_read_command, events=_read_event, written=_written)
"""What the older release knows."""

THIS = Schema(
    upcasters={(model.__name__, 0): raised for model in COMMAND_BY_STEP.values()}
    | {(event_type.value, 0): raised for event_type in EVENT_BY_TYPE}
)
"""What this release would know had there been that one."""


class OlderDatabase:
    """The database as processes of the older release use it: what they put into the outbox is of schema 0."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """See `Database`."""
        return self._database.dialect

    async def write(self, work: Callable[[Connection], T]) -> T:
        """See `Database`."""
        return await self._database.write(lambda conn: _write(conn, work))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """See `Database`."""
        return await self._database.read(work)

    def write_blocking(self, work: Callable[[Connection], T]) -> T:
        """See `Database`."""
        return self._database.write_blocking(lambda conn: _write(conn, work))

    def read_blocking(self, work: Callable[[Connection], T]) -> T:
        """See `Database`."""
        return self._database.read_blocking(work)

    async def close(self) -> None:
        """It belongs to somebody else."""


def _write(conn: Connection, work: Callable[[Connection], T]) -> T:
    before = set(_outbox(conn))
    made = work(conn)
    for command_id, body in _outbox(conn).items():
        if command_id not in before:
            run(conn, "UPDATE outbox SET body = :body WHERE command_id = :id", body=lowered(body), id=command_id)
    return made


def _outbox(conn: Connection) -> dict[str, bytes]:
    return {command_id: bytes(body) for command_id, body in run(conn, "SELECT command_id, body FROM outbox").all()}
