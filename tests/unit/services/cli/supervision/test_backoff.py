"""A child that ran long starts again at once, one that cannot run waits longer each time."""

from datetime import timedelta

from services.cli.supervision.backoff import Backoff


def test_waits_double_with_every_short_run_up_to_half_a_minute() -> None:
    backoff, waits = Backoff(), []
    for _ in range(9):
        backoff = backoff.after(timedelta(seconds=1))
        waits.append(backoff.wait.total_seconds())

    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_a_long_run_makes_up_for_all_short_ones() -> None:
    backoff = Backoff(short_runs=6).after(timedelta(seconds=20))

    assert backoff.wait == timedelta(0)


def test_very_many_short_runs_do_not_overflow() -> None:
    assert Backoff(short_runs=100_000).wait == timedelta(seconds=30)
