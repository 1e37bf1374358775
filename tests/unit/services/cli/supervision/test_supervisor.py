"""Units are started in order, started again when they end, and stopped in the opposite order."""

from datetime import timedelta

import pytest

from services.cli.supervision.signals import StopRequests
from services.cli.supervision.supervisor import CannotStart, Stage, Supervisor
from tests.unit.services.cli.supervision.units import Clock, FakeUnit, Told

WITHIN = timedelta(seconds=5)


def supervise(clock: Clock, told: Told, *stages: list[FakeUnit]) -> Supervisor:
    return Supervisor(
        [Stage(units=units, stop_within=WITHIN) for units in stages],
        requests=clock.requests,
        watcher=told,
        clock=clock,
        pause=clock.pause,
    )


def test_stages_start_in_order_and_stop_in_the_opposite_one() -> None:
    clock, told = Clock(StopRequests(), stop_at=1), Told()
    supervisor = supervise(
        clock, told, [FakeUnit("nats", clock)], [FakeUnit("worker", clock)], [FakeUnit("api", clock)]
    )

    supervisor.start()
    supervisor.watch()
    supervisor.stop()

    assert told.words == [
        "nats started",
        "worker started",
        "api started",
        "api stopping",
        "api stopped",
        "worker stopping",
        "worker stopped",
        "nats stopping",
        "nats stopped",
    ]


def test_a_unit_that_ran_long_is_started_again_in_the_same_look() -> None:
    clock, told = Clock(StopRequests(), stop_at=70), Told()
    worker = FakeUnit("worker", clock, runs=[60])
    supervisor = supervise(clock, told, [worker])

    supervisor.start()
    supervisor.watch()

    assert worker.starts == [0, 60]
    assert told.words == ["worker started", "worker ended, again in 0", "worker started"]


def test_a_unit_that_cannot_run_is_started_later_and_later_and_holds_up_nobody() -> None:
    clock, told = Clock(StopRequests(), stop_at=12), Told()
    broken, steady = FakeUnit("worker", clock, runs=[0.1] * 5), FakeUnit("api", clock)
    supervisor = supervise(clock, told, [broken, steady])

    supervisor.start()
    supervisor.ready()
    supervisor.watch()

    gaps = [round(later - earlier, 1) for earlier, later in zip(broken.starts, broken.starts[1:], strict=False)]
    assert gaps == [0.6, 1.1, 2.1, 4.1]
    assert steady.starts == [0]


def test_before_everything_was_ready_once_a_unit_that_cannot_run_ends_the_launch() -> None:
    clock, told = Clock(StopRequests()), Told()
    supervisor = supervise(clock, told, [FakeUnit("worker", clock, runs=[0.1] * 9)])

    supervisor.start()
    with pytest.raises(CannotStart, match="worker does not start: it ended with code 3 4 times"):
        supervisor.watch()


def test_a_start_that_fails_counts_as_a_short_run() -> None:
    clock, told = Clock(StopRequests(), stop_at=40), Told()
    broker = FakeUnit("nats", clock, runs=[30], refuses_starts=2)
    supervisor = supervise(clock, told, [broker])

    supervisor.start()
    supervisor.ready()
    supervisor.watch()

    assert broker.starts == [0, 30, 30.55, 31.6]
    assert broker.is_running()


def test_stopping_before_all_have_started_starts_no_more() -> None:
    requests = StopRequests()
    clock, told = Clock(requests), Told()
    supervisor = supervise(clock, told, [FakeUnit("nats", clock)], [FakeUnit("api", clock)])
    requests.add()

    supervisor.start()
    supervisor.watch()
    supervisor.stop()

    assert told.words == []


def test_units_of_a_stage_have_its_deadline_to_stop() -> None:
    clock, told = Clock(StopRequests(), stop_at=1), Told()
    workers = [FakeUnit("worker-1", clock), FakeUnit("worker-2", clock)]
    supervisor = supervise(clock, told, workers)

    supervisor.start()
    supervisor.watch()
    supervisor.stop()

    assert [worker.stopped_within for worker in workers] == [WITHIN, WITHIN]
    assert told.words[2:] == ["worker-1 stopping", "worker-2 stopping", "worker-1 stopped", "worker-2 stopped"]


def test_asked_a_second_time_everything_is_killed_whatever_it_is_waiting_for() -> None:
    clock, told = Clock(StopRequests(), stop_at=1), Told()
    broker, worker = FakeUnit("nats", clock), FakeUnit("worker", clock, stop_blocks=True)
    supervisor = supervise(clock, told, [broker], [worker])

    supervisor.start()
    supervisor.watch()
    clock.requests.add()
    supervisor.stop()

    assert worker.killed
    assert broker.killed
    assert told.words[2:] == ["worker stopping", "worker stopped"]


def test_the_tick_goes_on_as_long_as_the_watch() -> None:
    clock, ticks = Clock(StopRequests(), stop_at=1), []
    supervisor = Supervisor(
        [], requests=clock.requests, watcher=Told(), tick=lambda: ticks.append(1), clock=clock, pause=clock.pause
    )

    supervisor.watch()

    assert len(ticks) == 20
