"""What the projector keeps beside the state: applied events, its position, letters that nobody could apply."""

from functools import partial

import pytest

from shared.contracts.enums import LetterKind
from shared.contracts.ids import EventId, LetterId, TenantId
from shared.database.database import Database
from shared.database.dead_letters import (
    DeadLetter,
    insert_dead_letters,
    list_dead_letters,
    stuck_owners,
)
from shared.database.errors import UniqueViolation
from shared.database.inbox import forget_events, known_events, remember_events
from shared.database.positions import Position, load_position, move_position
from tests.integration.database.samples import NOW, after

ONE, TWO, THREE = EventId("op.upload.1.1.run.1"), EventId("op.upload.1.1.run.2"), EventId("op.upload.1.1.run.3")
STREAM = "KNOWGATE_EVENTS"


def a_position(sequence: int, created: str = "first") -> Position:
    return Position(stream_created=created, sequence=sequence, message_id=f"m{sequence}")


def move(database: Database, expected: Position | None, then: Position) -> bool:
    return database.write_blocking(lambda conn: move_position(conn, STREAM, expected, then))


def test_an_applied_event_is_known_until_it_is_forgotten(database: Database) -> None:
    database.write_blocking(lambda conn: remember_events(conn, [ONE], NOW))
    database.write_blocking(lambda conn: remember_events(conn, [TWO], after(10)))
    assert database.read_blocking(lambda conn: known_events(conn, [ONE, TWO, THREE])) == {ONE, TWO}
    assert database.write_blocking(lambda conn: forget_events(conn, after(10), limit=10)) == 1
    assert database.read_blocking(lambda conn: known_events(conn, [ONE, TWO, THREE])) == {TWO}
    assert database.read_blocking(lambda conn: known_events(conn, [])) == set()


def test_events_are_forgotten_in_pieces_the_oldest_first(database: Database) -> None:
    for place, event in enumerate((TWO, ONE, THREE)):
        database.write_blocking(partial(remember_events, event_ids=[event], now=after(place)))
    assert database.write_blocking(lambda conn: forget_events(conn, after(10), limit=2)) == 2
    assert database.read_blocking(lambda conn: known_events(conn, [ONE, TWO, THREE])) == {THREE}


def test_an_event_is_never_applied_twice(database: Database) -> None:
    database.write_blocking(lambda conn: remember_events(conn, [ONE], NOW))
    with pytest.raises(UniqueViolation) as caught:
        database.write_blocking(lambda conn: remember_events(conn, [TWO, ONE], NOW))
    assert caught.value.constraint == "inbox_pkey"
    assert database.read_blocking(lambda conn: known_events(conn, [TWO])) == set()


def test_a_position_begins_once_and_moves_only_from_where_it_is(database: Database) -> None:
    assert database.read_blocking(lambda conn: load_position(conn, STREAM)) is None
    assert move(database, None, a_position(0))
    assert not move(database, None, a_position(5))
    assert move(database, a_position(0), a_position(7))
    assert not move(database, a_position(0), a_position(9))
    assert database.read_blocking(lambda conn: load_position(conn, STREAM)) == a_position(7)


def test_a_position_of_another_stream_with_the_same_sequence_does_not_fit(database: Database) -> None:
    assert move(database, None, a_position(7, "first"))
    assert not move(database, a_position(7, "second"), a_position(8, "second"))
    assert move(database, a_position(7, "first"), Position(stream_created="second", sequence=0, message_id=None))
    found = database.read_blocking(lambda conn: load_position(conn, STREAM))
    assert found == Position(stream_created="second", sequence=0, message_id=None)


def test_dead_letters_are_kept_and_tell_whose_work_is_stuck(database: Database) -> None:
    letters = [
        DeadLetter(
            id=LetterId(f"ltr_{number}"),
            tenant_id=TenantId("acme") if number == 1 else None,
            kind=LetterKind.EVENT,
            owner_id=f"op_{number}",
            subject="knowgate.event.failed.op",
            headers={"ce-id": "an id"},
            body=b"\x00\xff",
            error="KeyError('x')",
            created_at=after(-number),
        )
        for number in (1, 2)
    ]
    database.write_blocking(lambda conn: insert_dead_letters(conn, letters))
    assert database.read_blocking(lambda conn: list_dead_letters(conn, limit=9)) == letters[::-1]
    assert database.read_blocking(lambda conn: list_dead_letters(conn, limit=1)) == letters[1:]
    assert database.read_blocking(lambda conn: stuck_owners(conn, ["op_1", "op_3"])) == {"op_1"}
    assert database.read_blocking(lambda conn: stuck_owners(conn, [])) == set()
