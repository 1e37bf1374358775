"""Promises that are lost, doubled, not ended, ended twice or left again."""

from dataclasses import replace

from tests.chaos.oracle.ending import duplicated, lost
from tests.chaos.oracle.world import Accepted, Look, ToldEvent
from tests.unit.chaos.worlds import (
    DELETE,
    GONE_UPLOAD,
    UPLOAD,
    a_world,
    broken,
    complaints,
    moved,
    others,
    step,
    with_operation,
)

SOUND = a_world()
BROKEN = {"one_terminal_state"}


def told(seq: int, resource_id: str, after: str, tenant: str = "acme") -> ToldEvent:
    return ToldEvent(tenant=tenant, seq=seq, resource_id=resource_id, after=after)


def test_a_sound_world_keeps_every_promise() -> None:
    assert complaints(SOUND) == []


def test_a_promise_of_which_nothing_is_known_is_lost() -> None:
    world = a_world(accepted=(*SOUND.accepted, Accepted(operation_id="op_9", tenant="acme", key="k9")))
    assert broken(world) == BROKEN
    assert list(lost(world)) == ["operation op_9 of acme was accepted and is not there"]


def test_a_promise_that_became_another_tenants_is_lost() -> None:
    accepted = (*SOUND.accepted[:-1], Accepted(operation_id="op_3", tenant="globex", key="k3"))
    world = a_world(accepted=accepted)
    assert broken(world) == BROKEN
    assert list(lost(world)) == ["operation op_3 of globex was accepted and is not there"]


def test_an_operation_that_nobody_was_promised_is_told() -> None:
    world = a_world(accepted=SOUND.accepted[:-1])
    assert broken(world) == BROKEN
    assert list(duplicated(world)) == ["operation op_3 (DOCUMENT_DELETE) of acme was promised to nobody"]


def test_a_key_that_was_answered_with_two_operations_is_told() -> None:
    accepted = (*SOUND.accepted[:-1], Accepted(operation_id="op_3", tenant="acme", key="k2"))
    world = a_world(accepted=accepted)
    assert broken(world) == BROKEN
    assert list(duplicated(world)) == ["the key k2 of acme was answered with ['op_2', 'op_3']"]


def test_two_tenants_may_use_the_same_key() -> None:
    globex = replace(DELETE, tenant="globex")
    world = a_world(
        accepted=(*SOUND.accepted[:-1], Accepted(operation_id="op_3", tenant="globex", key="k2")),
        operations={**SOUND.operations, "op_3": globex},
        told=(*SOUND.told[:-1], told(1, "op_3", "SUCCEEDED", tenant="globex")),
    )
    assert complaints(world) == []


def test_an_operation_that_was_promised_to_two_keys_is_told() -> None:
    world = a_world(accepted=(*SOUND.accepted, Accepted(operation_id="op_3", tenant="acme", key="k4")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the keys ['k3', 'k4'] were all answered with operation op_3"]


def test_a_request_that_got_no_answer_is_told() -> None:
    world = a_world(unanswered=("upload of acme with key k9",))
    assert broken(world) == BROKEN
    assert complaints(world) == ["no answer came to the end: upload of acme with key k9"]


def test_an_operation_that_still_runs_is_told() -> None:
    running = replace(DELETE, status="RUNNING")
    world = replace(with_operation(running, *moved("OPERATION", "op_3", "PENDING", "RUNNING")), told=SOUND.told[:-1])
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_3 (DOCUMENT_DELETE) of acme is still RUNNING"]


def test_an_operation_that_ended_and_has_a_command_is_told() -> None:
    world = with_operation(replace(UPLOAD, has_commands=True))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_1 is SUCCEEDED and has a command that is current or due"]


def test_an_operation_that_left_its_end_and_came_back_is_told_by_the_audit() -> None:
    world = a_world(
        transitions=(
            *SOUND.transitions,
            step("OPERATION", "op_1", "SUCCEEDED", "RUNNING", 5),
            step("OPERATION", "op_1", "RUNNING", "SUCCEEDED", 6),
        )
    )
    assert broken(world) == BROKEN
    assert complaints(world) == [
        "operation op_1 went from SUCCEEDED to RUNNING",
        "operation op_1 is SUCCEEDED; by the audit it ended as ['SUCCEEDED', 'SUCCEEDED']",
    ]


def test_an_end_of_which_the_audit_has_no_entry_is_told_twice() -> None:
    world = a_world(transitions=(*others("op_1"), *moved("OPERATION", "op_1", "PENDING", "RUNNING")))
    assert broken(world) == {"one_terminal_state", "audit_complete"}
    assert "operation op_1 is SUCCEEDED; by the audit it ended as []" in complaints(world)


def test_an_entry_without_a_move_is_no_second_end() -> None:
    again = step("OPERATION", "op_1", "SUCCEEDED", "SUCCEEDED", 5)
    assert complaints(a_world(transitions=(*SOUND.transitions, again))) == []


def test_a_poll_that_saw_another_status_after_the_end_is_told() -> None:
    world = a_world(looks=(*SOUND.looks, Look(operation_id="op_1", status="RUNNING")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_1 was polled as SUCCEEDED and later as RUNNING"]


def test_a_poll_that_saw_another_end_than_the_one_that_is_left_is_told() -> None:
    world = a_world(looks=(*SOUND.looks, Look(operation_id="op_2", status="FAILED")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_2 is SUCCEEDED and was polled as FAILED"]


def test_an_event_stream_that_repeats_or_goes_back_is_told() -> None:
    for seq in (8, 9):
        world = a_world(told=(*SOUND.told, told(seq, "op_9", "RUNNING")))
        assert broken(world) == BROKEN
        assert complaints(world) == [f"acme was told event {seq} after event 9"]


def test_event_numbers_are_each_tenants_own() -> None:
    assert complaints(a_world(told=(*SOUND.told, told(1, "op_9", "RUNNING", tenant="globex")))) == []


def test_an_event_after_the_end_is_told() -> None:
    world = a_world(told=(*SOUND.told, told(10, "op_1", "RUNNING")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the event stream told op_1 RUNNING after ['SUCCEEDED']"]


def test_an_end_that_is_told_twice_is_told_also_of_what_nobody_was_promised() -> None:
    world = a_world(told=(*SOUND.told, told(10, "op_4", "SUCCEEDED"), told(11, "op_4", "SUCCEEDED")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the event stream told op_4 SUCCEEDED after ['SUCCEEDED']"]


def test_an_end_that_the_events_do_not_tell_is_told() -> None:
    world = a_world(told=SOUND.told[:-1])
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_3 is SUCCEEDED; its events told []"]


def test_an_end_that_the_events_tell_as_another_is_told() -> None:
    world = a_world(told=(*SOUND.told[:-1], told(9, "op_3", "FAILED")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["operation op_3 is SUCCEEDED; its events told ['FAILED']"]


def test_an_event_stream_that_told_nothing_is_told() -> None:
    assert broken(a_world(told=())) == BROKEN


def test_a_tenant_that_is_told_of_another_ones_operation_is_told() -> None:
    globex = replace(GONE_UPLOAD, id="op_5", root_id="op_5", tenant="globex", type="SPACE_CREATE")
    world = replace(
        with_operation(globex, *moved("OPERATION", "op_5", "PENDING", "RUNNING", "SUCCEEDED")),
        told=(*SOUND.told, told(10, "op_5", "RUNNING")),
    )
    assert broken(world) == BROKEN
    assert complaints(world) == ["acme was told of operation op_5, which is globex's"]
