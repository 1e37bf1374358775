"""The figures of a run: how long it took after each kill until something was done again, and what is counted."""

from dataclasses import replace
from datetime import timedelta

from tests.chaos.ledger import Fault
from tests.chaos.oracle.invariants import INVARIANTS, judge
from tests.chaos.oracle.world import Accepted, World
from tests.chaos.report import recovery_seconds, report
from tests.unit.chaos.worlds import DELETE, NOON, UPLOAD, a_world, step

ENDS = a_world(
    transitions=(
        step("OPERATION", "op_2", "RUNNING", "CANCELLED", 30),
        step("OPERATION", "op_1", "RUNNING", "SUCCEEDED", 10),
        step("OPERATION", "op_3", "PENDING", "FAILED", 20),
    )
)


def killed(second: float) -> Fault:
    return Fault(at=NOON + timedelta(seconds=second), kind="kill", target="worker-1", pid=1)


def stalled(second: float) -> Fault:
    return Fault(at=NOON + timedelta(seconds=second), kind="stall", target="nats", pid=2, seconds=3.0)


def after(second: float, world: World = ENDS) -> list[float]:
    return recovery_seconds(world, [killed(second)])


def test_recovery_is_the_time_to_the_next_end_whatever_end_it_is() -> None:
    assert after(7.5) == [2.5]
    assert after(10.5) == [9.5]
    assert after(29) == [1.0]


def test_each_kill_has_a_recovery_of_its_own_in_the_order_of_the_kills() -> None:
    assert recovery_seconds(ENDS, [killed(12), killed(4), killed(5)]) == [8.0, 6.0, 5.0]


def test_an_end_at_the_moment_of_the_kill_is_none_after_it() -> None:
    assert after(10) == [10.0]


def test_a_kill_after_the_last_end_has_no_recovery() -> None:
    assert after(30) == []
    assert recovery_seconds(ENDS, []) == []


def test_a_stall_has_no_recovery() -> None:
    assert recovery_seconds(ENDS, [stalled(5)]) == []


def test_only_operations_end() -> None:
    world = a_world(transitions=(step("VERSION", "ver_1", "CREATED", "FAILED", 10), *ENDS.transitions[2:]))
    assert after(5, world) == [15.0]


def test_a_step_on_the_way_and_a_second_end_are_no_ends() -> None:
    on_the_way = step("OPERATION", "op_1", "PENDING", "RUNNING", 8)
    second = step("OPERATION", "op_1", "SUCCEEDED", "FAILED", 9)
    assert after(5, a_world(transitions=(on_the_way, second, *ENDS.transitions))) == [5.0]


def test_a_sound_run_is_clean() -> None:
    told = report(7, ENDS, [killed(5), killed(6), killed(18), stalled(1)], [])
    assert told.is_clean
    assert (told.seed, told.accepted, told.succeeded, told.failed, told.cancelled) == (7, 3, 3, 0, 0)
    assert (told.kills, told.stalls) == (3, 1)
    assert (told.recovery_seconds_p50, told.recovery_seconds_max) == (4.0, 5.0)
    assert told.invariants == dict.fromkeys(INVARIANTS, 0)


def test_a_run_without_a_kill_took_no_time_to_recover() -> None:
    told = report(7, ENDS, [stalled(1)], [])
    assert (told.recovery_seconds_p50, told.recovery_seconds_max) == (0.0, 0.0)


def test_violations_are_counted_by_their_invariants_and_no_run_with_one_is_clean() -> None:
    sound = a_world()
    lost = Accepted(operation_id="op_9", tenant="acme", key="k9")
    unpromised = replace(UPLOAD, id="op_5", root_id="op_5")
    world = a_world(
        accepted=(*sound.accepted, lost),
        operations={**sound.operations, "op_3": replace(DELETE, status="FAILED"), "op_5": unpromised},
        unchained=("aud_8", "aud_9"),
        held_spaces=frozenset({"spc_1", "spc_9"}),
    )
    told = report(7, world, [], judge(world))
    assert not told.is_clean
    assert (told.accepted, told.succeeded, told.failed, told.cancelled) == (4, 2, 1, 0)
    assert (told.lost, told.duplicated) == (1, 1)
    assert told.invariants["nothing_left"] == 1
    assert told.invariants["answers_only_active"] == 0
