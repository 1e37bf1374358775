"""Durations as people write them in settings."""

from datetime import timedelta

import pytest
from pydantic import TypeAdapter, ValidationError

from shared.telemetry.durations import Duration, PositiveDuration

DURATION: TypeAdapter[timedelta] = TypeAdapter(Duration)
POSITIVE: TypeAdapter[timedelta] = TypeAdapter(PositiveDuration)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("30", timedelta(seconds=30)),
        ("0.5", timedelta(milliseconds=500)),
        ("PT30S", timedelta(seconds=30)),
        ("P1D", timedelta(days=1)),
        (2, timedelta(seconds=2)),
        (timedelta(minutes=1), timedelta(minutes=1)),
    ],
)
def test_seconds_and_iso_8601_are_understood(written: object, meant: timedelta) -> None:
    assert DURATION.validate_python(written) == meant


@pytest.mark.parametrize("written", ["soon", "", "-1", "nan", "inf"])
def test_what_is_no_duration_is_refused(written: str) -> None:
    with pytest.raises(ValidationError):
        DURATION.validate_python(written)


def test_a_duration_may_have_to_be_longer_than_nothing() -> None:
    assert DURATION.validate_python("0") == timedelta(0)
    with pytest.raises(ValidationError):
        POSITIVE.validate_python("0")
