"""The pace of a step: what was published in the last two seconds."""

from datetime import UTC, datetime, timedelta

from shared.contracts.enums import Step
from shared.outbox.pace import Pace

START = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """So many seconds after the start."""
    return START + timedelta(seconds=seconds)


def test_nothing_was_published_before_the_first_round() -> None:
    assert Pace().per_second(START) == dict.fromkeys(Step, 0.0)


def test_the_pace_is_that_of_the_last_two_seconds_and_each_steps_own() -> None:
    pace = Pace()
    pace.note({Step.UPLOAD: 10}, START)
    pace.note({Step.UPLOAD: 4, Step.INGEST: 2}, after(1.5))

    assert pace.per_second(after(1.9))[Step.UPLOAD] == 7.0
    assert pace.per_second(after(2.0))[Step.UPLOAD] == 2.0
    assert pace.per_second(after(3.4))[Step.INGEST] == 1.0
    assert pace.per_second(after(3.5)) == dict.fromkeys(Step, 0.0)
