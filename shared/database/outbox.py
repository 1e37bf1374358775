"""The outbox: commands that no terminal event has answered yet. The row goes when one is projected."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import Step
from shared.contracts.ids import TenantId
from shared.database.codec import RowCodec
from shared.database.rows import TableRows
from shared.database.sql import run
from shared.database.tables.columns import table_of, to_microseconds
from shared.database.tables.pipeline import OutboxRow


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxCommand:
    """A command with all that is known of its publication.

    `published_at` None: it waits for its turn. `sequence` None beside it: its sender publishes it itself.
    """

    command_id: str
    owner_id: str
    step: Step
    tenant_id: TenantId
    subject: str
    body: bytes
    traceparent: str | None
    due_at: datetime
    created_at: datetime
    publication: int = 1
    """The message id is ``<command>.<publication>``."""
    published_at: datetime | None = None
    sequence: int | None = None
    stream_created: str | None = None
    gone_after: int | None = None
    """The events stream's last sequence, read after the message was found gone from the commands stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What the broker acknowledged: which publication of a command, where it lies, in which stream."""

    command_id: str
    publication: int
    sequence: int
    stream_created: str
    published_at: datetime


_TABLE = table_of(OutboxRow)
_CODEC = RowCodec(_TABLE, OutboxCommand)
_KEY = ("owner_id", "command_id")
_ROWS = TableRows(_TABLE, _CODEC.columns, key=_KEY)
_SAME_PUBLICATION = TableRows(_TABLE, _CODEC.columns, key=(*_KEY, "publication"))


def insert_commands(conn: Connection, commands: Sequence[OutboxCommand]) -> None:
    """Put commands into the outbox. UniqueViolation("outbox_pkey") when one is in it already."""
    _ROWS.insert(conn, _CODEC.write(commands))


def find_commands(conn: Connection, owner_ids: Collection[str]) -> list[OutboxCommand]:
    """All commands of these operations or purges that no terminal event has answered."""
    return _CODEC.read(_ROWS.by_key(conn, owner_ids))


def close_commands(conn: Connection, command_ids: Collection[str]) -> None:
    """Remove commands that a terminal event has answered; what is not there is no error."""
    ids = sorted(command_ids)
    _ROWS.delete(conn, [[_owner(command_id) for command_id in ids], ids])


def withdraw_unpublished(conn: Connection, owner_ids: Collection[str]) -> None:
    """Remove what was never published of operations that have ended."""
    if not owner_ids:
        return
    run(conn, "DELETE FROM outbox WHERE owner_id AMONG :owners AND published_at IS NULL", owners=owner_ids)


def mark_published(conn: Connection, publications: Sequence[Publication]) -> None:
    """Note what the broker acknowledged, for rows that are still there in the same publication."""
    changed = ("published_at", "sequence", "stream_created")
    cells: list[Sequence[object]] = [
        [to_microseconds(publication.published_at) for publication in publications],
        [publication.sequence for publication in publications],
        [publication.stream_created for publication in publications],
        [_owner(publication.command_id) for publication in publications],
        [publication.command_id for publication in publications],
        [publication.publication for publication in publications],
    ]
    _SAME_PUBLICATION.update(conn, changed, cells)


def find_published(conn: Connection) -> list[OutboxCommand]:
    """Every published command whose place in the stream is known; at most the dispatcher's windows together."""
    return _CODEC.read(_ROWS.where(conn, "published_at IS NOT NULL AND sequence IS NOT NULL"))


def find_left_by_sender(conn: Connection, published_before: datetime) -> list[OutboxCommand]:
    """Commands that their sender was to publish itself before then, and has not reported as published."""
    condition = "published_at IS NOT NULL AND published_at < :before AND sequence IS NULL"
    return _CODEC.read(_ROWS.where(conn, condition, order=("published_at",), before=to_microseconds(published_before)))


def mark_gone(conn: Connection, commands: Sequence[OutboxCommand], gone_after: int) -> None:
    """Note that the messages of these commands are no longer in the stream, and up to which event to wait for."""
    _SAME_PUBLICATION.update(conn, ("gone_after",), [[gone_after] * len(commands), *_keys(commands)])


def raise_publication(conn: Connection, commands: Sequence[OutboxCommand], now: datetime) -> None:
    """Make commands wait for being published once more, under a new message id; they are due at once."""
    nothing = [None] * len(commands)
    changed = ("publication", "due_at", "published_at", "sequence", "stream_created", "gone_after")
    cells: list[Sequence[object]] = [
        [command.publication + 1 for command in commands],
        [to_microseconds(now)] * len(commands),
        *[nothing] * 4,
        *_keys(commands),
    ]
    _SAME_PUBLICATION.update(conn, changed, cells)


def _keys(commands: Sequence[OutboxCommand]) -> list[Sequence[str | int]]:
    return [
        [command.owner_id for command in commands],
        [command.command_id for command in commands],
        [command.publication for command in commands],
    ]


def _owner(command_id: str) -> str:
    """Owner ids hold no dot."""
    return command_id.partition(".")[0]
