"""How a space ends, also when the provider does not let it go at first; the same on both databases."""

from dataclasses import replace

import pytest

from shared.contracts.enums import FailureClass, FailureReason, OperationStatus, SpaceStatus, Step
from shared.contracts.events import SpaceProvisioned, SpaceRemoved
from shared.contracts.ids import SpaceId
from shared.contracts.spaces import SpaceDeleteRequest
from shared.database.spaces import load_spaces, save_spaces
from shared.domain.errors import OperationPending, SpaceBusy, SpaceNotFound
from shared.domain.space import Space
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.delete_space import delete_space
from tests.integration.lifecycle.bench import Bench

pytestmark = pytest.mark.anyio


async def delete(bench: Bench, space_id: SpaceId, expected: int) -> Accepted:
    body = SpaceDeleteRequest(expected_version=expected, reason="Not needed.")
    return await bench.write(lambda conn: delete_space(conn, space_id, body, bench.request(), bench.around))


async def space_of(bench: Bench, space_id: SpaceId) -> Space:
    return (await bench.database.read(lambda conn: load_spaces(conn, {space_id})))[space_id]


async def test_a_removal_that_fails_is_asked_for_again(bench: Bench) -> None:
    space_id = await bench.active_space()
    first = await delete(bench, space_id, 1)
    assert first.command.step is Step.REMOVE
    assert b'"nativeSpaceId":"native"' in first.command.body
    await bench.tell(bench.failed(first.command.command_id, FailureReason.PROVIDER_REFUSED, FailureClass.PERMANENT))
    assert (await bench.operation(first.work.operation.id)).status is OperationStatus.FAILED
    assert (await space_of(bench, space_id)).status is SpaceStatus.DELETE_FAILED

    second = await delete(bench, space_id, 2)
    await bench.tell(bench.succeeded(second.command.command_id, SpaceRemoved()))

    space = await space_of(bench, space_id)
    assert (space.status, space.lock_version) == (SpaceStatus.DELETED, 3)
    assert (await bench.operation(second.work.operation.id)).status is OperationStatus.SUCCEEDED
    with pytest.raises(SpaceNotFound):
        await delete(bench, space_id, 3)


async def test_a_space_whose_making_failed_is_deleted_without_ever_being_used(bench: Bench) -> None:
    made = await bench.create_space()
    space_id = made.work.space.id
    with pytest.raises(SpaceBusy):
        await delete(bench, space_id, 1)
    await bench.tell(bench.failed(made.command.command_id, FailureReason.PROVIDER_REFUSED, FailureClass.PERMANENT))
    assert (await space_of(bench, space_id)).status is SpaceStatus.CREATE_FAILED

    accepted = await delete(bench, space_id, 1)
    await bench.tell(bench.succeeded(made.command.command_id, SpaceProvisioned(native_space_id="late")))
    assert (await space_of(bench, space_id)).status is SpaceStatus.DELETING
    await bench.tell(bench.succeeded(accepted.command.command_id, SpaceRemoved()))

    assert (await space_of(bench, space_id)).status is SpaceStatus.DELETED
    assert await bench.rows("SELECT count(*) FROM outbox") == [(0,)]


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (SpaceStatus.CREATING, SpaceBusy),
        (SpaceStatus.CREATE_FAILED, None),
        (SpaceStatus.ACTIVE, None),
        (SpaceStatus.DISABLED, None),
        (SpaceStatus.DELETING, SpaceBusy),
        (SpaceStatus.DELETE_FAILED, None),
        (SpaceStatus.DELETED, SpaceNotFound),
    ],
)
async def test_a_space_is_deleted_from_every_state_in_which_nothing_runs_on_it(
    bench: Bench, status: SpaceStatus, refusal: type[Exception] | None
) -> None:
    space_id = await bench.active_space()
    space = await space_of(bench, space_id)
    await bench.write(lambda conn: save_spaces(conn, [replace(space, status=status)]))
    if refusal is not None:
        with pytest.raises(refusal):
            await delete(bench, space_id, 1)
        assert (await space_of(bench, space_id)).status is status
        return
    accepted = await delete(bench, space_id, 1)
    assert (await space_of(bench, space_id)).status is SpaceStatus.DELETING
    with pytest.raises(SpaceBusy):
        await delete(bench, space_id, 2)
    await bench.tell(bench.succeeded(accepted.command.command_id, SpaceRemoved()))
    assert (await space_of(bench, space_id)).status is SpaceStatus.DELETED


async def test_a_removal_is_tried_six_times_and_then_left_to_be_asked_for_again(bench: Bench) -> None:
    space_id = await bench.active_space()
    operation_id = (await delete(bench, space_id, 1)).work.operation.id
    for attempt in range(1, 7):
        command = f"{operation_id}.remove.{attempt}.1"
        await bench.tell(bench.failed(command, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT))
    operation = await bench.operation(operation_id)
    assert (operation.status, operation.retry_count, operation.is_retryable) == (OperationStatus.FAILED, 5, False)
    assert (await space_of(bench, space_id)).status is SpaceStatus.DELETE_FAILED


async def test_every_transition_of_the_end_is_audited_with_its_reason_once(bench: Bench) -> None:
    space_id = await bench.active_space()
    accepted = await delete(bench, space_id, 1)
    await bench.tell(bench.succeeded(accepted.command.command_id, SpaceRemoved()))

    told = f"SELECT action, before, after FROM audit_entry WHERE operation_id = '{accepted.work.operation.id}'"  # noqa: S608
    assert set(await bench.rows(told)) == {
        ("SPACE_DELETE", None, "PENDING"),
        ("space.deleting", "ACTIVE", "DELETING"),
        ("space.deleted", "DELETING", "DELETED"),
        ("operation.succeeded", "PENDING", "SUCCEEDED"),
    }
    reasoned = "SELECT action FROM audit_entry WHERE CAST(details AS TEXT) <> '{}'"
    assert await bench.rows(reasoned) == [("SPACE_DELETE",)]


async def test_a_space_that_is_still_being_made_takes_nothing(bench: Bench) -> None:
    made = await bench.create_space()

    with pytest.raises(OperationPending):
        await bench.upload(made.work.space.id)
