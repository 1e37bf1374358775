"""How fast something grows: the median of the slopes between all pairs of samples, with its interval.

One sample far off, such as the peak of a large file, moves neither: the estimator is that of Theil and Sen, and the
interval follows from the distribution of Kendall's tau, as Sen has shown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, median
from typing import Final

CONFIDENCE: Final = 0.95
FEWEST: Final = 5
"""Fewer samples have no interval worth the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look: when, and how much."""

    at: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """The slope and the interval in which it lies, in units of the value for each unit of time."""

    slope: float
    low: float
    high: float

    def times(self, factor: float) -> "Slope":
        """The same in another unit of time."""
        return Slope(slope=self.slope * factor, low=self.low * factor, high=self.high * factor)


def slope_of(samples: Sequence[Sample], confidence: float = CONFIDENCE) -> Slope:
    """The slope of samples at different times; ValueError when there are too few."""
    if len(samples) < FEWEST:
        raise ValueError(f"{len(samples)} samples are too few for a slope")
    slopes = sorted((late.value - early.value) / (late.at - early.at) for early, late in combinations(samples, 2))
    spread = _normal_quantile(confidence) * math.sqrt(_variance_of_tau(samples))
    first = max(0, math.floor((len(slopes) - spread) / 2))
    last = min(len(slopes) - 1, math.ceil((len(slopes) + spread) / 2))
    return Slope(slope=median(slopes), low=slopes[first], high=slopes[last])


def _variance_of_tau(samples: Sequence[Sample]) -> float:
    """Of the number of pairs in order less those out of it, when there is no trend; equal values say nothing."""
    ties = [sum(sample.value == value for sample in samples) for value in {sample.value for sample in samples}]
    return (_cubic(len(samples)) - sum(map(_cubic, ties))) / 18


def _cubic(number: int) -> int:
    return number * (number - 1) * (2 * number + 5)


def _normal_quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def medians(samples: Sequence[Sample], *, of: int) -> list[Sample]:
    """The median of every so many samples in a row: neighbours tell much the same, and an interval would not know."""
    blocks = [samples[begin : begin + of] for begin in range(0, len(samples) - of + 1, of)]
    return [Sample(at=median(one.at for one in block), value=median(one.value for one in block)) for block in blocks]
