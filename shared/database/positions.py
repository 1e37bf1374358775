"""How far the projector has come in a stream; it moves by compare-and-set, in the transaction of the state."""

from dataclasses import dataclass

from sqlalchemy import Connection

from shared.database.sql import run

_LOAD = "SELECT stream_created, sequence, message_id FROM projector_position WHERE stream = :stream"
_BEGIN = """
INSERT INTO projector_position (stream, stream_created, sequence, message_id)
VALUES (:stream, :created, :sequence, :message) ON CONFLICT (stream) DO NOTHING
"""
_MOVE = """
UPDATE projector_position SET stream_created = :created, sequence = :sequence, message_id = :message
WHERE stream = :stream AND stream_created = :old_created AND sequence = :old_sequence
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last applied message of one stream, which `stream_created` tells from others of its name."""

    stream_created: str
    sequence: int
    message_id: str | None
    """None before the first message."""


def load_position(conn: Connection, stream: str) -> Position | None:
    """The position in a stream; None when nothing of it was ever applied."""
    row = run(conn, _LOAD, stream=stream).first()
    if row is None:
        return None
    return Position(stream_created=row[0], sequence=row[1], message_id=row[2])


def move_position(conn: Connection, stream: str, expected: Position | None, then: Position) -> bool:
    """Move from `expected` to `then`; False when somebody else has moved it."""
    new: dict[str, str | int | None] = {
        "created": then.stream_created,
        "sequence": then.sequence,
        "message": then.message_id,
    }
    if expected is None:
        return run(conn, _BEGIN, stream=stream, **new).rowcount == 1
    new |= {"old_created": expected.stream_created, "old_sequence": expected.sequence}
    return run(conn, _MOVE, stream=stream, **new).rowcount == 1
