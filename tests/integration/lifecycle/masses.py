"""Many documents that have just been taken on, made by copying one: the moves themselves would take minutes."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from shared.contracts.enums import Step
from shared.contracts.ids import CommandId, DocumentId, OperationId, SpaceId, VersionId
from shared.database.documents import insert_documents
from shared.database.operations import insert_operations
from shared.database.outbox import insert_commands
from shared.database.versions import insert_versions
from shared.domain.identity import Caller
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.commands import build_command, outbox_row
from shared.lifecycle.settings import PipelineSettings
from tests.integration.lifecycle.bench import ANA, Bench


async def queued(bench: Bench, number: int, caller: Caller = ANA) -> list[OperationId]:
    """So many documents of a tenant in a new space; nobody has published anything of them."""
    space_id = (await bench.create_space("queue", caller)).work.space.id
    await bench.write(lambda conn: open_space(conn, space_id))
    accepted = await multiplied(bench, await bench.upload(space_id, caller=caller), number)
    return [one.work.operation.id for one in accepted]


async def multiplied(bench: Bench, accepted: Accepted, number: int) -> list[Accepted]:
    """The same upload so many times, with that one."""
    copies = [copy_of(accepted, n) for n in range(1, number)]
    await bench.write(lambda conn: insert_copies(conn, copies))
    return [accepted, *copies]


def open_space(conn: Connection, space_id: SpaceId) -> None:
    """Its provisioning is not what this is about."""
    conn.exec_driver_sql("DELETE FROM outbox WHERE step = 'provision'")
    conn.exec_driver_sql(f"UPDATE space SET status = 'ACTIVE' WHERE id = '{space_id}'")  # noqa: S608


def copy_of(accepted: Accepted, number: int) -> Accepted:
    """The same upload with ids of its own."""
    operation, document, version = accepted.work.operation, accepted.work.document, accepted.work.version
    assert document is not None
    assert version is not None
    operation_id, document_id, version_id = (
        OperationId(f"{operation.id}_{number}"),
        DocumentId(f"{document.id}_{number}"),
        VersionId(f"{version.id}_{number}"),
    )
    command = CommandId(operation_id, Step.UPLOAD, 1, 1)
    work = replace(
        accepted.work,
        operation=replace(
            operation,
            id=operation_id,
            root_id=operation_id,
            work=command,
            resource_id=document_id,
            document_id=document_id,
            version_id=version_id,
        ),
        document=replace(document, id=document_id, candidate_version_id=version_id),
        version=replace(version, id=version_id, document_id=document_id, operation_id=operation_id),
    )
    now, deadline = operation.created_at, PipelineSettings().deadline(Step.UPLOAD)
    row = outbox_row(build_command(work, command, now=now, deadline=deadline), traceparent=None, due_at=now, now=now)
    return Accepted(work=work, command=row)


def insert_copies(conn: Connection, copies: Sequence[Accepted]) -> None:
    insert_documents(conn, [one.work.document for one in copies if one.work.document is not None])
    insert_versions(conn, [one.work.version for one in copies if one.work.version is not None])
    insert_operations(conn, [one.work.operation for one in copies])
    insert_commands(conn, [one.command for one in copies])
