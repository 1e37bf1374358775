"""What operators see of unfinished operations: the stillest first, with what each of them waits for."""

from sqlalchemy import Connection

from shared.contracts.enums import LetterKind, LetterStatus, OperationStatus, OperationType, Step
from shared.contracts.ids import CommandId, LetterId, OperationId, TenantId
from shared.database.database import Database
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.managed import managed_operation
from shared.database.operations import insert_operations
from shared.database.outbox import insert_commands
from shared.database.purges import insert_purges
from shared.database.spaces import insert_spaces
from shared.database.unfinished import look_into, overdue_operations, page_of_unfinished
from shared.domain.purge import PurgeStatus
from shared.domain.unfinished import OpenCommand, Unfinished
from tests.integration.database.samples import (
    NOW,
    a_command,
    a_purge,
    a_space,
    after,
    an_operation,
    reach_of,
    together,
)

GLOBEX = TenantId("globex")
DELETE = {"type": OperationType.DOCUMENT_DELETE, "version_id": None, "work": None}


def a_letter(letter_id: str, owner_id: str, kind: LetterKind = LetterKind.EVENT, **more: object) -> DeadLetter:
    return DeadLetter(
        id=LetterId(letter_id),
        tenant_id=TenantId("acme"),
        kind=kind,
        owner_id=owner_id,
        subject="s",
        body=b"",
        error="KeyError",
        created_at=NOW,
        **more,  # type: ignore[arg-type]
    )


def store_some(conn: Connection) -> None:
    """Three unfinished operations of the tenant in its domain, and others that are not to be seen."""
    insert_spaces(
        conn,
        [
            a_space(),
            a_space("spc_2", security_domain="secret"),
            a_space("spc_3", tenant_id=GLOBEX),
        ],
    )
    insert_operations(
        conn,
        [
            an_operation("op_1", updated_at=after(-50)),
            an_operation("op_2", "doc_2", updated_at=after(-90), next_retry_at=after(-20)),
            an_operation("op_3", "doc_3", updated_at=after(-70), next_retry_at=after(-80)),
            an_operation("op_4", "doc_4", status=OperationStatus.FAILED, updated_at=after(-500)),
            an_operation("op_5", "doc_5", space_id="spc_2", updated_at=after(-500)),
            an_operation("op_6", "doc_6", space_id="spc_3", tenant_id=GLOBEX, updated_at=after(-500)),
        ],
    )


def listed(database: Database, before: float = 1e6, page: int = 1, page_size: int = 20) -> tuple[list[str], int]:
    found, total = database.read_blocking(
        lambda conn: page_of_unfinished(conn, reach_of(), still_before=after(before), page=page, page_size=page_size)
    )
    return [operation.id for operation in found], total


def looked_into(database: Database, *operations: str) -> list[Unfinished]:
    def look(conn: Connection) -> list[Unfinished]:
        found = [managed_operation(conn, reach_of(), OperationId(operation)) for operation in operations]
        return look_into(conn, [operation for operation in found if operation is not None])

    return database.read_blocking(look)


def test_the_stillest_comes_first_and_a_retry_that_is_due_later_counts_from_then(database: Database) -> None:
    database.write_blocking(store_some)
    assert listed(database) == (["op_3", "op_1", "op_2"], 3)


def test_pages_tell_how_many_there_are_in_all(database: Database) -> None:
    database.write_blocking(store_some)
    assert listed(database, page=2, page_size=2) == (["op_2"], 3)
    assert listed(database, page=3, page_size=2) == ([], 3)


def test_only_those_are_overdue_that_have_been_still_since_before_then(database: Database) -> None:
    database.write_blocking(store_some)
    assert listed(database, before=-50) == (["op_3"], 1)
    assert listed(database, before=-49) == (["op_3", "op_1"], 2)


def test_the_reconciler_sees_the_overdue_ones_of_a_tenant_or_of_all(database: Database) -> None:
    database.write_blocking(store_some)

    def overdue(tenant: TenantId | None, limit: int) -> tuple[list[str], int]:
        found, total = database.read_blocking(
            lambda conn: overdue_operations(conn, tenant, still_before=after(-60), limit=limit)
        )
        return [operation.id for operation in found], total

    assert overdue(GLOBEX, 10) == (["op_6"], 1)
    assert overdue(None, 2) == (["op_5", "op_6"], 3)


def test_one_operation_is_managed_in_its_tenant_and_domain_whatever_has_become_of_it(database: Database) -> None:
    database.write_blocking(store_some)
    ids = [f"op_{number}" for number in range(1, 8)]
    found = [database.read_blocking(lambda conn, id=id: managed_operation(conn, reach_of(), id)) for id in ids]  # type: ignore[misc]
    assert [operation.id for operation in found if operation is not None] == ["op_1", "op_2", "op_3", "op_4"]


def test_an_operation_waits_for_its_command_as_the_outbox_holds_it(database: Database) -> None:
    command = a_command("op_1", due_at=after(5), published_at=after(7), sequence=3)
    database.write_blocking(together(store_some, lambda conn: insert_commands(conn, [command])))
    first, second = looked_into(database, "op_1", "op_2")
    upload = CommandId("op_1", Step.UPLOAD, 1, 1)
    assert first.commands == (OpenCommand(id=upload, due_at=after(5), published_at=after(7)),)
    assert second.commands == ()


def test_an_operation_is_held_up_by_the_oldest_event_of_it_that_nobody_has_settled(database: Database) -> None:
    letters = [
        a_letter("ltr_0", "op_1", status=LetterStatus.DISCARDED),
        a_letter("ltr_1", "op_1", LetterKind.COMMAND),
        a_letter("ltr_2", "op_1", status=LetterStatus.REPLAYING),
        a_letter("ltr_3", "op_1"),
    ]
    database.write_blocking(together(store_some, lambda conn: insert_dead_letters(conn, letters)))
    first, second = looked_into(database, "op_1", "op_2")
    assert (first.letter_id, second.letter_id) == ("ltr_2", None)


def test_a_delete_waits_for_what_runs_beside_it_and_for_purges_with_their_commands_and_letters(
    database: Database,
) -> None:
    delete = an_operation("op_9", "doc_1", **DELETE)
    purge = a_purge("pur_1", operation_id="op_9", status=PurgeStatus.ISSUED)
    done = a_purge("pur_2", operation_id="op_9", status=PurgeStatus.DONE)
    database.write_blocking(
        together(
            store_some,
            lambda conn: insert_operations(conn, [delete]),
            lambda conn: insert_purges(conn, [purge, done]),
            lambda conn: insert_commands(conn, [a_command("pur_1", step=Step.PURGE), a_command("op_1")]),
            lambda conn: insert_dead_letters(conn, [a_letter("ltr_1", "pur_1")]),
        )
    )
    (found,) = looked_into(database, "op_9")
    assert found == Unfinished(
        operation=delete,
        commands=(OpenCommand(id=CommandId("pur_1", Step.PURGE, 1, 1), due_at=NOW),),
        letter_id=LetterId("ltr_1"),
        purges=(purge,),
        waits_for=(OperationId("op_1"),),
    )
