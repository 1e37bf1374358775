"""Whose dead letters are whose, and how they are settled: once."""

from dataclasses import replace

from sqlalchemy import Connection

from shared.contracts.enums import LetterKind, LetterStatus
from shared.contracts.ids import LetterId, TenantId
from shared.database.database import Database
from shared.database.dead_letters import (
    DeadLetter,
    insert_dead_letters,
    load_dead_letters,
    managed_letter,
    page_of_letters,
    settle_letter,
    stuck_owners,
    unsettled_letters,
)
from shared.database.operations import insert_operations
from shared.database.purges import insert_purges
from shared.database.spaces import insert_spaces
from tests.integration.database.samples import NOW, a_purge, a_space, after, an_operation, reach_of, together

ACME = TenantId("acme")


def a_letter(name: str, owner_id: str = "op_1", tenant: TenantId | None = ACME, **more: object) -> DeadLetter:
    letter = DeadLetter(
        id=LetterId(name),
        tenant_id=tenant,
        kind=LetterKind.EVENT,
        owner_id=owner_id,
        subject="knowgate.event.failed.op_1",
        headers={"ce-id": "1"},
        body=b"\x00\xff",
        message_id="m-1",
        error="KeyError('x')",
        created_at=NOW,
    )
    return replace(letter, **more)  # type: ignore[arg-type]


LETTERS = [
    a_letter("ltr_1", created_at=after(9)),
    a_letter("ltr_2"),
    a_letter("ltr_3", status=LetterStatus.REPLAYED),
    a_letter("ltr_4", tenant=TenantId("globex")),
    a_letter("ltr_5", owner_id="", tenant=None),
    a_letter("ltr_6", owner_id="op_2"),
    a_letter("ltr_7", owner_id="pur_2"),
    a_letter("ltr_8", owner_id="nobody", created_at=after(10)),
]


def store_some(conn: Connection) -> None:
    """Letters of both tenants, of none, and of what is in a space of another security domain."""
    insert_spaces(conn, [a_space(), a_space("spc_2", security_domain="secret")])
    insert_operations(conn, [an_operation("op_1"), an_operation("op_2", "doc_2", space_id="spc_2")])
    insert_purges(conn, [a_purge("pur_2", space_id="spc_2")])
    insert_dead_letters(conn, LETTERS)


def listed(database: Database, status: LetterStatus = LetterStatus.OPEN, *, of_none: bool = False) -> list[str]:
    found, total = database.read_blocking(
        lambda conn: page_of_letters(conn, reach_of(), status, of_none=of_none, page=1, page_size=20)
    )
    assert total == len(found)
    return [letter.id for letter in found]


def managed(database: Database, *, of_none: bool) -> list[str]:
    found = [
        database.read_blocking(lambda conn, id=letter.id: managed_letter(conn, reach_of(), id, of_none=of_none))  # type: ignore[misc]
        for letter in LETTERS
    ]
    return [letter.id for letter in found if letter is not None]


def test_a_page_holds_the_letters_of_the_tenant_in_one_status_but_for_other_domains(database: Database) -> None:
    database.write_blocking(store_some)
    assert listed(database) == ["ltr_2", "ltr_1", "ltr_8"]
    assert listed(database, LetterStatus.REPLAYED) == ["ltr_3"]
    assert listed(database, of_none=True) == ["ltr_2", "ltr_5", "ltr_1", "ltr_8"]


def test_what_is_not_listed_is_not_found_by_its_id_either(database: Database) -> None:
    database.write_blocking(store_some)
    assert managed(database, of_none=False) == ["ltr_1", "ltr_2", "ltr_3", "ltr_8"]
    assert managed(database, of_none=True) == ["ltr_1", "ltr_2", "ltr_3", "ltr_5", "ltr_8"]


def test_a_letter_is_settled_only_from_what_it_was(database: Database) -> None:
    database.write_blocking(store_some)
    settled = replace(LETTERS[0], status=LetterStatus.DISCARDED, settled_at=after(20), settled_by="root")
    assert not database.write_blocking(lambda conn: settle_letter(conn, settled, was=LetterStatus.REPLAYING))
    assert database.write_blocking(lambda conn: settle_letter(conn, settled, was=LetterStatus.OPEN))
    assert not database.write_blocking(lambda conn: settle_letter(conn, settled, was=LetterStatus.OPEN))
    assert database.read_blocking(lambda conn: load_dead_letters(conn, {settled.id})) == {settled.id: settled}


def test_an_owner_is_stuck_while_an_event_of_it_is_unsettled_and_not_for_a_command(database: Database) -> None:
    letters = [
        a_letter("ltr_1", "op_1", status=LetterStatus.REPLAYING),
        a_letter("ltr_2", "op_2", kind=LetterKind.COMMAND),
        a_letter("ltr_3", "op_3", status=LetterStatus.DISCARDED),
    ]
    database.write_blocking(together(lambda conn: insert_dead_letters(conn, letters)))
    owners = {"op_1", "op_2", "op_3"}
    assert database.read_blocking(lambda conn: stuck_owners(conn, owners)) == {"op_1"}
    unsettled = database.read_blocking(lambda conn: unsettled_letters(conn, owners))
    assert [letter.id for letter in unsettled] == ["ltr_1", "ltr_2"]
    assert database.read_blocking(lambda conn: unsettled_letters(conn, set())) == []
