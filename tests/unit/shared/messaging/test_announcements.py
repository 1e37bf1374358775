"""What is heard of workers, and for how long it counts."""

from shared.contracts.catalogue import WorkerSlots
from shared.contracts.enums import Step
from shared.messaging.announcements import SlotBoard


class Seconds:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_slots_of_all_workers_are_added_up() -> None:
    board = SlotBoard()
    board.hear(WorkerSlots(worker_id="one", slots={Step.UPLOAD: 2, Step.INGEST: 1}))
    board.hear(WorkerSlots(worker_id="two", slots={Step.INGEST: 3}))
    assert (board.workers, board.slots()[Step.UPLOAD], board.slots()[Step.INGEST]) == (2, 2, 4)


def test_an_announcement_replaces_the_one_before() -> None:
    board = SlotBoard()
    board.hear(WorkerSlots(worker_id="one", slots={Step.INGEST: 4}))
    board.hear(WorkerSlots(worker_id="one", slots={Step.INGEST: 1}))
    assert (board.workers, board.slots()[Step.INGEST]) == (1, 1)


def test_a_worker_that_falls_silent_is_forgotten_after_three_announcements() -> None:
    clock = Seconds()
    board = SlotBoard(monotonic=clock)
    board.hear(WorkerSlots(worker_id="one", slots={Step.INGEST: 4}))
    clock.now += 6
    assert board.workers == 1
    clock.now += 0.1
    assert board.workers == 0
    assert board.slots().get(Step.INGEST, 0) == 0
