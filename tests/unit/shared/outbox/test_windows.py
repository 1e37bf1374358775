"""How many commands may be out: the announced hands, and a little work ahead of them."""

import pytest

from shared.contracts.enums import Step
from shared.outbox.windows import Windows

INGEST = Step.INGEST


def room(slots: int, per_second: float = 0.0, published: int = 0) -> int:
    """The room of a step with so many slots that works at this pace."""
    return Windows(unheard=8).room({INGEST: slots}, {INGEST: per_second}, {INGEST: published})[INGEST]


@pytest.mark.parametrize(
    ("per_second", "size"),
    [(0.0, 4), (4.0, 4), (5.1, 5), (20.0, 6), (34.0, 7), (1000.0, 8)],
)
def test_work_that_goes_fast_has_more_waiting_in_the_stream_up_to_one_for_each_slot(
    per_second: float, size: int
) -> None:
    assert room(4, per_second) == size


def test_a_step_that_nobody_announced_has_the_window_of_the_setting() -> None:
    rooms = Windows(unheard=8).room({INGEST: 3, Step.UPLOAD: 0}, {}, {})
    assert rooms[Step.UPLOAD] == rooms[Step.PURGE] == 8
    assert set(rooms) == set(Step)


def test_what_is_left_is_never_negative() -> None:
    assert [room(8, published=published) for published in (0, 5, 8, 11)] == [8, 3, 0, 0]
