"""The text of statements for both databases."""

import pytest

from shared.database.locking import Lock
from shared.database.sql import (
    delete_text,
    insert_missing_text,
    insert_text,
    render,
    select_text,
    selected,
    update_text,
)
from shared.database.tables.columns import table_of
from shared.database.tables.knowledge import SpaceRow
from shared.database.tables.pipeline import OutboxRow

SPACE, OUTBOX = table_of(SpaceRow), table_of(OutboxRow)


@pytest.mark.parametrize(
    ("text", "sqlite", "postgresql"),
    [
        ("a = :name", "a = :name", "a = %(name)s"),
        ("a AMONG :ids", "a IN (SELECT value FROM json_each(:ids))", "a = ANY(%(ids)s::text[])"),
        ("b::text = :b", "b::text = :b", "b::text = %(b)s"),
        (
            "(a, b) AMONG PAIRS :pairs",
            "(a, b) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:pairs))",
            "(a, b) IN (SELECT pair ->> 0, pair ->> 1 FROM json_array_elements(%(pairs)s::json) AS pair)",
        ),
    ],
)
def test_the_notation_becomes_each_databases_own(text: str, sqlite: str, postgresql: str) -> None:
    assert render("sqlite", text) == sqlite
    assert render("postgresql", text) == postgresql


def test_rows_to_be_locked_are_locked_on_postgresql_alone_and_in_order() -> None:
    arguments = (SPACE, ("id", "profile"), "id = :key", ("id",), Lock.UPDATE)
    start = 'SELECT space."id", space."profile"'
    assert select_text("sqlite", *arguments) == f"{start} FROM space WHERE id = :key ORDER BY id"
    assert select_text("postgresql", *arguments) == (f"{start}::text FROM space WHERE id = :key ORDER BY id FOR UPDATE")
    assert select_text("postgresql", SPACE, ("id",), "id = :key", ("id",), Lock.SHARE).endswith(" FOR SHARE")
    assert selected("postgresql", SPACE, ("profile",), "seen") == 'seen."profile"::text'


def test_many_rows_are_one_prepared_statement_on_sqlite_and_one_array_per_column_on_postgresql() -> None:
    columns, key = ("id", "lock_version", "profile", "created_at"), ("id",)
    assert insert_text("sqlite", SPACE, columns, key) == (
        'INSERT INTO space ("id", "lock_version", "profile", "created_at") VALUES (?, ?, ?, ?)'
    )
    assert insert_text("postgresql", SPACE, columns, key) == (
        'INSERT INTO space ("id", "lock_version", "profile", "created_at") '
        'SELECT given."id", given."lock_version", given."profile"::json, given."created_at" '
        "FROM unnest(%s::text[], %s::integer[], %s::text[], %s::bigint[]) "
        'AS given("id", "lock_version", "profile", "created_at")'
    )
    for dialect in ("sqlite", "postgresql"):
        insert = insert_text(dialect, SPACE, columns, key)
        assert insert_missing_text(dialect, SPACE, columns, key) == f"{insert} ON CONFLICT DO NOTHING"


def test_a_column_may_be_changed_and_belong_to_the_key_at_once() -> None:
    changed, key = ("publication", "body"), ("command_id", "publication")
    assert update_text("sqlite", OUTBOX, changed, key) == (
        'UPDATE outbox SET "publication" = ?, "body" = ? WHERE "command_id" = ? AND "publication" = ?'
    )
    assert update_text("postgresql", OUTBOX, changed, key) == (
        'UPDATE outbox SET "publication" = given."publication", "body" = given."body" '
        "FROM unnest(%s::integer[], %s::bytea[], %s::text[], %s::integer[]) "
        'AS given("publication", "body", "key command_id", "key publication") '
        'WHERE outbox."command_id" = given."key command_id" AND outbox."publication" = given."key publication"'
    )
    assert delete_text("sqlite", OUTBOX, (), key) == 'DELETE FROM outbox WHERE "command_id" = ? AND "publication" = ?'
    assert delete_text("postgresql", OUTBOX, (), ("command_id",)) == (
        'DELETE FROM outbox USING unnest(%s::text[]) AS given("key command_id") '
        'WHERE outbox."command_id" = given."key command_id"'
    )
