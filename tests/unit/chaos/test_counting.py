"""Retries that are too many, that were not counted, and trees of manual retries that do not hang together."""

from dataclasses import replace

import pytest

from tests.chaos.oracle.world import Accepted, Operation, ToldEvent, World
from tests.unit.chaos.worlds import CREATE_SPACE, UPLOAD, a_world, broken, complaints, moved, with_operation

SOUND = a_world()
BROKEN = {"retries_bounded"}


def retry(number: int, *, parent: str | None = None, root: str = "op_1") -> Operation:
    """A manual retry of the upload: op_11 is the first and follows the upload, op_12 follows op_11, and so on."""
    follows = "op_1" if number == 1 else f"op_{9 + number}"
    return replace(UPLOAD, id=f"op_{10 + number}", root_id=root, parent_id=parent or follows, manual_attempt=number)


def with_retries(*retries: Operation) -> World:
    """With these operations, each accepted, told and recorded as it should be."""
    world = SOUND
    for seq, one in enumerate(retries, start=20):
        world = replace(
            world,
            accepted=(*world.accepted, Accepted(operation_id=one.id, tenant="acme", key=one.id)),
            told=(*world.told, ToldEvent(tenant="acme", seq=seq, resource_id=one.id, after="SUCCEEDED")),
            operations={**world.operations, one.id: one},
            transitions=(*world.transitions, *moved("OPERATION", one.id, "PENDING", "SUCCEEDED")),
        )
    return world


def test_three_manual_retries_are_sound() -> None:
    assert complaints(with_retries(retry(1), retry(2), retry(3))) == []


def test_five_automatic_retries_are_sound_and_six_are_told() -> None:
    assert complaints(with_operation(replace(UPLOAD, retry_count=5))) == []
    world = with_operation(replace(UPLOAD, retry_count=6))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_1 was retried 6 times"]


def test_a_negative_number_of_retries_is_told() -> None:
    world = replace(with_operation(replace(UPLOAD, retry_count=-1)), attempts={})
    assert broken(world) == BROKEN
    assert complaints(world)[0] == "operation op_1 was retried -1 times"


def test_a_retry_that_was_not_counted_is_told() -> None:
    world = a_world(attempts={"op_1": 3})
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_1 was tried 3 times and counts 1 retries"]


def test_a_fourth_manual_retry_is_told() -> None:
    world = with_retries(retry(1), retry(2), retry(3), retry(4))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_1 was retried by hand [1, 2, 3, 4]"]


def test_two_first_manual_retries_are_told() -> None:
    world = with_retries(retry(1), replace(retry(1), id="op_12"))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_1 was retried by hand [1, 1]"]


def test_a_manual_retry_that_was_left_out_is_told() -> None:
    world = with_retries(retry(1), replace(retry(3), parent_id="op_11"))
    assert broken(world) == BROKEN
    assert complaints(world) == [
        "operation op_1 was retried by hand [1, 3]",
        "operation op_13, retry 3 of op_1, follows op_11",
    ]


@pytest.mark.parametrize(
    "parent", ["op_9", "op_2", "op_1"], ids=["nothing known", "an operation of another root", "the one before the last"]
)
def test_a_manual_retry_that_follows_the_wrong_operation_is_told(parent: str) -> None:
    world = with_retries(retry(1), retry(2, parent=parent))
    assert broken(world) == BROKEN
    assert complaints(world) == [f"operation op_12, retry 2 of op_1, follows {parent}"]


def test_a_manual_retry_of_a_root_that_is_not_there_is_told() -> None:
    world = with_retries(retry(1, parent="op_9", root="op_9"))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_11, retry 1 of op_9, follows op_9"]


def test_a_manual_retry_without_a_parent_is_told() -> None:
    for changed in (replace(CREATE_SPACE, manual_attempt=1), replace(CREATE_SPACE, root_id="op_1")):
        world = with_operation(changed)
        assert broken(world) == BROKEN
        assert complaints(world) == [
            f"operation op_4, retry {changed.manual_attempt} of {changed.root_id}, has no parent"
        ]


def test_a_manual_retry_that_follows_the_right_number_of_another_root_is_told() -> None:
    world = with_retries(retry(1, parent="op_2"))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_11, retry 1 of op_1, follows op_2"]
