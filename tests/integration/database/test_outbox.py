"""The outbox: what waits, whose turn it is, what is out, what was lost, and when a row goes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.contracts.enums import Step
from shared.database.database import Database
from shared.database.errors import UniqueViolation
from shared.database.outbox import (
    OutboxCommand,
    Publication,
    close_commands,
    find_commands,
    find_left_by_sender,
    find_published,
    insert_commands,
    mark_gone,
    mark_published,
    raise_publication,
    withdraw_unpublished,
)
from shared.database.outbox_queue import UNLIMITED, Backlog, count_open, measure_backlog, steps_waiting, take_due
from tests.integration.database.samples import NOW, a_command, after


def stored(database: Database, *owners: str) -> list[OutboxCommand]:
    """The commands of these owners."""
    return database.read_blocking(lambda conn: find_commands(conn, owners))


def put(database: Database, *commands: OutboxCommand) -> None:
    """Put commands into the outbox."""
    database.write_blocking(lambda conn: insert_commands(conn, commands))


def published(command: OutboxCommand, sequence: int = 7, publication: int = 1) -> Publication:
    """The broker's acknowledgement of a command."""
    return Publication(
        command_id=command.command_id,
        publication=publication,
        sequence=sequence,
        stream_created="2026-01-01T00:00:00Z",
        published_at=after(1),
    )


def due(database: Database, limit: int = 100, most: int = UNLIMITED, step: Step = Step.UPLOAD) -> list[str]:
    """The owners of the commands whose turn it is."""
    found = database.read_blocking(lambda conn: take_due(conn, step, limit=limit, now=NOW, most_per_tenant=most))
    return [command.owner_id for command in found]


def test_a_command_comes_back_as_it_was_put_in(database: Database) -> None:
    command = a_command(traceparent="00-a-b-01", due_at=after(3))
    put(database, command)
    assert stored(database, "op_1") == [command]


def test_a_command_is_put_in_once(database: Database) -> None:
    put(database, a_command())
    with pytest.raises(UniqueViolation) as caught:
        put(database, a_command())
    assert caught.value.constraint == "outbox_pkey"


def test_a_terminal_event_closes_exactly_its_own_command(database: Database) -> None:
    put(database, a_command("op_1"), a_command("op_1", step=Step.CANCEL), a_command("op_2"))
    database.write_blocking(lambda conn: close_commands(conn, ["op_1.upload.1.1", "op_9.upload.1.1"]))
    assert [command.command_id for command in stored(database, "op_1", "op_2")] == [
        "op_1.cancel.1.1",
        "op_2.upload.1.1",
    ]
    database.write_blocking(lambda conn: close_commands(conn, []))


def test_what_was_never_published_can_be_withdrawn(database: Database) -> None:
    put(database, a_command("op_1"), a_command("op_1", step=Step.CANCEL, published_at=NOW), a_command("op_2"))
    database.write_blocking(lambda conn: withdraw_unpublished(conn, ["op_1"]))
    assert [command.command_id for command in stored(database, "op_1", "op_2")] == [
        "op_1.cancel.1.1",
        "op_2.upload.1.1",
    ]


def test_only_what_is_due_unpublished_and_of_the_step_is_taken(database: Database) -> None:
    put(
        database,
        a_command("op_due", due_at=NOW),
        a_command("op_later", due_at=after(0.000001)),
        a_command("op_out", published_at=NOW),
        a_command("op_ingest", step=Step.INGEST),
    )
    assert due(database) == ["op_due"]
    assert due(database, step=Step.INGEST) == ["op_ingest"]
    assert due(database, step=Step.PURGE) == []


def test_tenants_take_turns_however_much_one_of_them_has_queued(database: Database) -> None:
    put(database, *(a_command(f"op_big_{n:03}", "big", due_at=after(-500 + n)) for n in range(300)))
    put(database, *(a_command(f"op_mid_{n}", "mid", due_at=after(-90 + n)) for n in range(2)))
    put(database, a_command("op_new", "new"))
    assert due(database, limit=6) == ["op_big_000", "op_mid_0", "op_new", "op_big_001", "op_mid_1", "op_big_002"]
    assert due(database, limit=2) == ["op_big_000", "op_mid_0"]
    assert len(due(database, limit=1000)) == 303


def test_what_a_tenant_has_out_already_counts_as_turns_it_has_had(database: Database) -> None:
    put(database, *(a_command(f"op_out_{n}", "big", published_at=NOW) for n in range(3)))
    put(database, *(a_command(f"op_big_{n}", "big", due_at=after(-9)) for n in range(3)))
    put(database, *(a_command(f"op_new_{n}", "new") for n in range(5)))
    assert due(database, limit=5) == ["op_new_0", "op_new_1", "op_new_2", "op_big_0", "op_new_3"]
    assert due(database, most=4) == ["op_new_0", "op_new_1", "op_new_2", "op_big_0", "op_new_3"]
    assert due(database, most=2) == ["op_new_0", "op_new_1"]


def test_a_tenant_whose_rows_are_not_due_takes_no_turn(database: Database) -> None:
    put(database, a_command("op_a", "a", due_at=after(60)), a_command("op_b", "b"))
    assert due(database) == ["op_b"]


def test_a_published_command_is_known_by_its_place_in_the_stream(database: Database) -> None:
    command = a_command()
    put(database, command)
    database.write_blocking(lambda conn: mark_published(conn, [published(command, 41)]))
    expected = replace(command, published_at=after(1), sequence=41, stream_created="2026-01-01T00:00:00Z")
    assert database.read_blocking(find_published) == [expected]
    assert due(database) == []


def test_an_acknowledgement_of_another_publication_or_of_a_closed_command_is_not_noted(database: Database) -> None:
    again, closed = a_command("op_1", publication=2), a_command("op_2")
    put(database, again)
    database.write_blocking(lambda conn: mark_published(conn, [published(again, publication=1), published(closed)]))
    assert stored(database, "op_1", "op_2") == [again]


def test_what_a_sender_left_behind_is_found_after_a_while(database: Database) -> None:
    left = a_command("op_left", published_at=after(-6))
    reported = a_command("op_reported", published_at=after(-6), sequence=1, stream_created="s")
    put(database, left, reported, a_command("op_fresh", published_at=after(-4)), a_command("op_waiting"))
    found = database.read_blocking(lambda conn: find_left_by_sender(conn, NOW - timedelta(seconds=5)))
    assert found == [left]


def test_a_message_that_is_gone_is_noted_and_published_again_under_a_new_id(database: Database) -> None:
    command = a_command(published_at=NOW, sequence=5, stream_created="s")
    put(database, command)
    database.write_blocking(lambda conn: mark_gone(conn, [command], 900))
    gone = replace(command, gone_after=900)
    assert stored(database, "op_1") == [gone]
    database.write_blocking(lambda conn: raise_publication(conn, [gone], after(2)))
    raised = replace(a_command(), publication=2, due_at=after(2))
    assert stored(database, "op_1") == [raised]
    database.write_blocking(lambda conn: raise_publication(conn, [gone], after(9)))
    assert stored(database, "op_1") == [raised]


def test_what_is_out_is_counted_by_step(database: Database) -> None:
    put(
        database,
        a_command("op_1", published_at=NOW),
        a_command("op_2", published_at=NOW, sequence=1),
        a_command("op_3"),
        a_command("op_4", step=Step.PURGE, published_at=NOW),
    )
    counts = database.read_blocking(count_open)
    assert counts == dict.fromkeys(Step, 0) | {Step.UPLOAD: 2, Step.PURGE: 1}


def test_the_steps_that_wait_are_told_whether_or_not_they_are_due(database: Database) -> None:
    put(database, a_command("op_1", due_at=after(60)), a_command("op_2", step=Step.PURGE, published_at=NOW))
    assert database.read_blocking(steps_waiting) == {Step.UPLOAD}


def test_what_is_gone_from_the_stream_takes_no_room_and_no_turn_in_it(database: Database) -> None:
    gone = [a_command(f"op_{n}", published_at=NOW, sequence=n + 1, stream_created="s") for n in range(2)]
    put(database, *gone, a_command("op_waiting"))
    database.write_blocking(lambda conn: mark_gone(conn, gone, 900))
    assert database.read_blocking(count_open)[Step.UPLOAD] == 0
    assert due(database, most=1) == ["op_waiting"]


def test_the_backlog_tells_queued_waiting_and_out_apart(database: Database) -> None:
    put(
        database,
        a_command("op_1", due_at=after(-30)),
        a_command("op_2", due_at=NOW),
        a_command("op_3", due_at=after(60)),
        a_command("op_4", due_at=after(-50), published_at=after(-40)),
        a_command("op_5", step=Step.INGEST, due_at=after(60)),
    )
    backlog = database.read_blocking(lambda conn: measure_backlog(conn, NOW))
    assert backlog[Step.UPLOAD] == Backlog(queued=2, waiting=1, published=1, oldest_due_at=after(-50))
    assert backlog[Step.INGEST] == Backlog(queued=0, waiting=1, published=0, oldest_due_at=None)
    assert backlog[Step.CANCEL] == Backlog()
    assert backlog[Step.UPLOAD].total == 4
