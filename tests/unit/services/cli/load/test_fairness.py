import pytest

from services.cli.load.fairness import percentile

SEVEN = (70.0, 10.0, 40.0, 20.0, 60.0, 30.0, 50.0)


@pytest.mark.parametrize(
    ("percent", "value"),
    [(0, 10.0), (14, 10.0), (15, 20.0), (50, 40.0), (85, 60.0), (86, 70.0), (95, 70.0), (100, 70.0)],
)
def test_a_percentile_is_the_smallest_value_that_so_many_of_a_hundred_do_not_exceed(percent: int, value: float) -> None:
    assert percentile(SEVEN, percent) == value


def test_of_twenty_values_the_95th_percentile_leaves_out_the_greatest_alone() -> None:
    assert percentile([float(number) for number in range(20, 0, -1)], 95) == 19.0


def test_every_percentile_of_one_value_is_that_value() -> None:
    assert [percentile([7.5], percent) for percent in (1, 50, 95)] == [7.5, 7.5, 7.5]
