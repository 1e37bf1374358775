"""The audit chain: every entry once, in order, each link covering all before it, and never two ends."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from sqlalchemy.exc import DBAPIError

from shared.contracts.ids import TenantId
from shared.database.audit import write_entries
from shared.database.audit_chain import (
    EMPTY,
    Head,
    Link,
    add_links,
    chain_hash,
    chain_heads,
    count_unsealed,
    find_unsealed,
    has_unsealed,
)
from shared.database.database import Database
from shared.database.errors import UniqueViolation
from shared.database.settings import SQLITE
from shared.database.sql import run
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.database.samples import NOW, after

LINKS = "SELECT chain, seq, entry_id, prev_hash, hash FROM audit_chain ORDER BY chain, seq"


def an_entry(entry_id: str, tenant: str | None = "acme", at: datetime = NOW) -> AuditEntry:
    return AuditEntry(
        id=entry_id,
        tenant_id=None if tenant is None else TenantId(tenant),
        at=at,
        origin=Origin(actor=Actor.PROJECTOR),
        action="x",
        outcome=Outcome.DONE,
    )


def write(database: Database, *entries: AuditEntry) -> None:
    database.write_blocking(lambda conn: write_entries(conn, entries))


def seal(database: Database, limit: int = 500) -> int:
    return database.write_blocking(lambda conn: seal_audit(conn, NOW, limit=limit)).entries


def places(database: Database) -> list[tuple[str, int, str]]:
    """Chain, seq and entry of every link."""
    return [(chain, seq, entry) for chain, seq, entry, _, _ in database.read_blocking(lambda c: run(c, LINKS).all())]


def test_each_tenant_has_a_chain_and_what_has_no_tenant_has_one_too(database: Database) -> None:
    write(database, an_entry("aud_1"), an_entry("aud_2", "globex"), an_entry("aud_3", None), an_entry("aud_4"))

    assert seal(database) == 4

    assert places(database) == [
        ("acme", 1, "aud_1"),
        ("acme", 2, "aud_4"),
        ("globex", 1, "aud_2"),
        ("system", 1, "aud_3"),
    ]


def test_a_batch_is_sealed_in_the_order_of_time_and_then_of_id(database: Database) -> None:
    write(database, an_entry("aud_1", at=after(3)), an_entry("aud_3", at=after(1)), an_entry("aud_2", at=after(1)))

    seal(database)

    assert places(database) == [("acme", 1, "aud_2"), ("acme", 2, "aud_3"), ("acme", 3, "aud_1")]


def test_a_link_covers_its_entry_its_place_and_all_before_it(database: Database) -> None:
    write(database, an_entry("aud_1"), an_entry("aud_2"))
    seal(database)
    write(database, an_entry("aud_3"))
    seal(database)

    assert places(database) == [("acme", 1, "aud_1"), ("acme", 2, "aud_2"), ("acme", 3, "aud_3")]
    rows = database.read_blocking(lambda conn: run(conn, LINKS).all())
    contents = dict(database.read_blocking(lambda c: run(c, "SELECT id, content_hash FROM audit_entry").all()))
    expected = ""
    for chain, seq, entry, prev_hash, link_hash in rows:
        assert (chain, prev_hash) == ("acme", expected)
        expected = hashlib.sha256(f"{expected}:{seq}:{contents[entry]}".encode()).hexdigest()
        assert link_hash == expected


def test_a_hash_is_that_of_three_parts_with_colons() -> None:
    assert chain_hash("", 1, "ab") == "9111575b84d16a0ca302bb7591b48c1b8fe3b4f7b6c90b50fc07acf9bfe8bf37"
    assert len({chain_hash("a", 1, "b"), chain_hash("a", 2, "b"), chain_hash("b", 1, "a")}) == 3


def test_what_is_sealed_waits_no_longer_and_is_not_sealed_again(database: Database) -> None:
    write(database, *(an_entry(f"aud_{number}") for number in range(7)))
    assert database.read_blocking(count_unsealed) == 7

    assert [seal(database, limit=3) for _ in range(4)] == [3, 3, 1, 0]

    assert database.read_blocking(count_unsealed) == 0
    assert database.read_blocking(has_unsealed) is False
    assert places(database) == [("acme", number + 1, f"aud_{number}") for number in range(7)]


def test_the_oldest_entries_are_sealed_first(database: Database) -> None:
    write(database, *(an_entry(f"aud_{number}", at=after(number)) for number in reversed(range(5))))

    found = database.read_blocking(lambda conn: find_unsealed(conn, limit=2))

    assert [entry.entry_id for entry in found] == ["aud_0", "aud_1"]


def test_the_head_of_a_chain_is_its_last_link(database: Database) -> None:
    write(database, an_entry("aud_1"), an_entry("aud_2"), an_entry("aud_3", "globex"))
    seal(database)

    heads = database.read_blocking(lambda conn: chain_heads(conn, {"acme", "globex", "nobody"}))

    assert {chain: head.seq for chain, head in heads.items()} == {"acme": 2, "globex": 1}
    last = database.read_blocking(lambda c: run(c, "SELECT hash FROM audit_chain WHERE chain = 'acme' AND seq = 2"))
    assert heads["acme"] == Head(seq=2, hash=last.scalar_one())


def links_after(head: Head, entries: Sequence[str]) -> list[Link]:
    return [
        Link(chain="acme", seq=head.seq + place, entry_id=entry, prev_hash="", hash=f"{place}", sealed_at=NOW)
        for place, entry in enumerate(entries, start=1)
    ]


def test_two_sealers_that_read_the_same_head_cannot_both_add_to_it(database: Database) -> None:
    write(database, an_entry("aud_1"), an_entry("aud_2"))
    database.write_blocking(lambda conn: add_links(conn, links_after(EMPTY, ["aud_1"])))

    with pytest.raises(UniqueViolation) as caught:
        database.write_blocking(lambda conn: add_links(conn, links_after(EMPTY, ["aud_2"])))

    assert caught.value.constraint == "audit_chain_pkey"
    assert places(database) == [("acme", 1, "aud_1")]
    assert database.read_blocking(count_unsealed) == 1


def test_an_entry_stands_in_one_place_alone(database: Database) -> None:
    write(database, an_entry("aud_1"))
    links = links_after(EMPTY, ["aud_1"])
    database.write_blocking(lambda conn: add_links(conn, links))

    with pytest.raises(UniqueViolation) as caught:
        database.write_blocking(lambda conn: add_links(conn, [replace(links[0], seq=2)]))

    assert caught.value.constraint == "audit_chain_entry_once"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_chain SET hash = 'y'",
        "DELETE FROM audit_chain",
        "TRUNCATE audit_chain",
        "INSERT INTO audit_chain SELECT * FROM audit_chain WHERE true "
        "ON CONFLICT (chain, seq) DO UPDATE SET hash = 'y'",
        "INSERT INTO audit_chain SELECT * FROM audit_chain WHERE true ON CONFLICT (entry_id) DO UPDATE SET hash = 'y'",
    ],
)
def test_no_link_can_be_changed_or_removed(database: Database, statement: str) -> None:
    if database.dialect == SQLITE and statement.startswith("TRUNCATE"):
        statement = "INSERT OR REPLACE INTO audit_chain SELECT * FROM audit_chain"
    write(database, an_entry("aud_1"))
    seal(database)

    with pytest.raises(DBAPIError, match="append-only"):
        database.write_blocking(lambda conn: run(conn, statement).rowcount)

    assert places(database) == [("acme", 1, "aud_1")]
