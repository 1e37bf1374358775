"""The arithmetic of growth: what is flat, what grows, what only jumps, and how sure one may be."""

import random

import pytest

from tests.soak.slopes import Sample, Slope, medians, slope_of


def samples(*values: float) -> list[Sample]:
    return [Sample(at=float(at), value=value) for at, value in enumerate(values)]


def test_what_does_not_change_has_no_slope() -> None:
    assert slope_of(samples(7, 7, 7, 7, 7)) == Slope(slope=0, low=0, high=0)


def test_what_grows_steadily_has_its_slope_and_no_doubt_about_it() -> None:
    assert slope_of(samples(*(3 + 2 * at for at in range(10)))) == Slope(slope=2, low=2, high=2)


def test_one_sample_far_off_moves_neither_the_slope_nor_its_sign() -> None:
    values = [float(at) for at in range(20)]
    values[10] = 10_000
    found = slope_of(samples(*values))
    assert found.slope == 1
    assert found.low == found.high == 1


def test_the_interval_is_that_of_kendalls_distribution() -> None:
    """Of the 45 slopes of ten samples, 1.96 times the root of 125 lie between the two ends: those from 11.5 to 33.5."""
    values = (1, 3, 2, 4, 6, 5, 7, 9, 8, 10)
    slopes = sorted(
        (late - early) / (later - at)
        for at, early in enumerate(values)
        for later, late in enumerate(values)
        if later > at
    )
    found = slope_of(samples(*values))
    assert (found.slope, found.low, found.high) == (slopes[22], slopes[11], slopes[34])


def test_noise_without_a_trend_has_an_interval_around_nothing() -> None:
    dice = random.Random(4)
    found = slope_of(samples(*(100 + dice.gauss(0, 5) for _ in range(80))))
    assert found.low < 0 < found.high


def test_a_trend_in_noise_is_seen() -> None:
    dice = random.Random(4)
    found = slope_of(samples(*(100 + 0.5 * at + dice.gauss(0, 5) for at in range(80))))
    assert 0.3 < found.low < 0.5 < found.high < 0.7


def test_what_falls_back_every_time_does_not_grow() -> None:
    """A child that grows until it is replaced."""
    found = slope_of(samples(*(100 + at % 7 for at in range(84))))
    assert found.low <= 0 <= found.high


def test_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        slope_of(samples(1, 2, 3, 4))


def test_neighbours_are_taken_together_by_their_median_and_a_rest_is_left_out() -> None:
    assert medians(samples(1, 9, 2, 5, 6, 70, 3), of=3) == [Sample(at=1, value=2), Sample(at=4, value=6)]


def test_a_slope_is_told_in_another_unit_of_time() -> None:
    assert Slope(slope=1, low=-2, high=3).times(60) == Slope(slope=60, low=-120, high=180)
