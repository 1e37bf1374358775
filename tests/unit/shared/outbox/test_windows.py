"""How many commands may be out: twice the hands that were announced, a setting when nobody is heard."""

from shared.contracts.enums import Step
from shared.outbox.windows import Windows


def test_the_window_is_twice_the_announced_slots() -> None:
    assert Windows(unheard=8).sizes({Step.INGEST: 3})[Step.INGEST] == 6


def test_a_step_that_nobody_announced_has_the_window_of_the_setting() -> None:
    sizes = Windows(unheard=8).sizes({Step.INGEST: 3, Step.UPLOAD: 0})
    assert (sizes[Step.UPLOAD], sizes[Step.PURGE]) == (8, 8)
    assert set(sizes) == set(Step)


def test_room_is_what_is_left_and_never_negative() -> None:
    room = Windows(unheard=8).room({}, {Step.UPLOAD: 5, Step.INGEST: 11})
    assert (room[Step.UPLOAD], room[Step.INGEST], room[Step.PURGE]) == (3, 0, 8)
