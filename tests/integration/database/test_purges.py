"""Which purges are chosen: tenants in turns, nobody held up by what cannot start."""

from datetime import datetime

from shared.contracts.enums import OperationStatus, Step
from shared.contracts.ids import DocumentId, TenantId, VersionId
from shared.database.database import Database
from shared.database.operations import insert_operations
from shared.database.outbox import close_commands, insert_commands
from shared.database.purges import due_purges, insert_purges
from shared.domain.operation import Operation
from shared.domain.purge import Purge
from tests.integration.database.samples import NOW, a_command, a_purge, after, an_operation, store_served, together


def of_tenant(tenant: str, number: int, due_at: datetime | None = None) -> Purge:
    """A purge of a version of its own; the lower its number, the longer it has been due."""
    name = f"{tenant}_{number}"
    return a_purge(
        f"pur_{name}",
        tenant_id=TenantId(tenant),
        version_id=VersionId(f"ver_{name}"),
        due_at=due_at or after(number - 100),
    )


def purge_of(number: int, due_at: datetime) -> Purge:
    """A purge of what document `number` serves."""
    return a_purge(
        f"pur_out_{number}",
        document_id=DocumentId(f"doc_{number}"),
        version_id=VersionId(f"ver_{number}"),
        due_at=due_at,
    )


def ended_operation(operation_id: str, number: int) -> Operation:
    """One on the version of document `number`, over by now; a command of it may be out all the same."""
    version_id = VersionId(f"ver_{number}")
    return an_operation(operation_id, f"doc_{number}", version_id=version_id, status=OperationStatus.FAILED, work=None)


def due_ids(database: Database, limit: int) -> list[str]:
    return [purge.id for purge in database.read_blocking(lambda conn: due_purges(conn, NOW, limit=limit))]


def test_tenants_take_turns_however_much_one_of_them_has_to_be_purged(database: Database) -> None:
    purges = [*(of_tenant("acme", n) for n in range(20)), of_tenant("globex", 50), of_tenant("hooli", 60)]
    database.write_blocking(lambda conn: insert_purges(conn, purges))
    assert due_ids(database, 4) == ["pur_acme_0", "pur_globex_50", "pur_hooli_60", "pur_acme_1"]


def test_purges_that_cannot_start_keep_nobody_from_being_chosen(database: Database) -> None:
    """Neither those of their own tenant nor of another."""
    numbers = range(1, 21)
    database.write_blocking(
        together(
            lambda conn: store_served(conn, *numbers),
            lambda conn: insert_operations(conn, [ended_operation(f"op_{n}", n) for n in numbers]),
        )
    )
    out = [purge_of(n, due_at=after(-500)) for n in numbers]
    commands = [a_command(f"op_{n}", published_at=NOW) for n in numbers]
    later = [of_tenant("hooli", n, due_at=after(60)) for n in range(5)]
    free = [of_tenant("acme", 1), of_tenant("acme", 2), of_tenant("globex", 1)]
    database.write_blocking(
        together(lambda conn: insert_purges(conn, [*out, *later, *free]), lambda conn: insert_commands(conn, commands))
    )
    assert due_ids(database, 3) == ["pur_acme_1", "pur_globex_1", "pur_acme_2"]


def test_a_purge_waits_for_the_commands_of_every_operation_that_worked_on_its_version(database: Database) -> None:
    """Also of one that was ended while a worker had its command, and was then retried by another."""
    operations = [ended_operation("op_first", 1), ended_operation("op_retry", 1)]
    database.write_blocking(
        together(
            lambda conn: store_served(conn, 1),
            lambda conn: insert_operations(conn, operations),
            lambda conn: insert_purges(conn, [purge_of(1, due_at=NOW)]),
            lambda conn: insert_commands(conn, [a_command("op_first", published_at=NOW)]),
        )
    )
    assert due_ids(database, 1) == []
    database.write_blocking(lambda conn: close_commands(conn, ["op_first.upload.1.1"]))
    assert due_ids(database, 1) == ["pur_out_1"]


def test_of_the_purges_of_a_version_the_oldest_is_chosen_and_no_other(database: Database) -> None:
    version = VersionId("ver_1")
    purges = [a_purge(f"pur_{n}", version_id=version, due_at=after(-n)) for n in range(1, 6)]
    purges += [a_purge("pur_8", version_id=VersionId("ver_2")), a_purge("pur_9", version_id=VersionId("ver_2"))]
    files = [a_purge(f"pur_file_{n}", version_id=None, step=Step.PURGE_FILE) for n in range(2)]
    database.write_blocking(lambda conn: insert_purges(conn, [*purges, *files]))
    assert due_ids(database, 4) == ["pur_5", "pur_8", "pur_file_0", "pur_file_1"]
