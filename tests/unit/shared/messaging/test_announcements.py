"""What is heard of workers, and for how long it counts."""

from datetime import timedelta

from shared.contracts.catalogue import WorkerHands, WorkerSlots
from shared.contracts.enums import Step
from shared.messaging.announcements import HandBoard, SlotBoard, live_workers


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


def test_what_a_worker_has_in_hand_replaces_what_it_had_and_is_forgotten_with_it() -> None:
    clock = Seconds()
    board = HandBoard(monotonic=clock)
    board.hear(WorkerHands(worker_id="one", commands=("op_1.upload.1.1", "op_2.ingest.1.1")))
    board.hear(WorkerHands(worker_id="two", commands=()))
    board.hear(WorkerHands(worker_id="one", commands=("op_2.ingest.1.1",)))
    assert board.hands() == {"op_2.ingest.1.1": "one"}
    assert board.worker_ids == {"one", "two"}
    clock.now += 6.1
    assert board.hands() == {}
    assert board.worker_ids == frozenset()


def test_workers_are_known_only_when_every_live_one_had_time_to_announce_itself() -> None:
    slots, hands = SlotBoard(), HandBoard()
    assert not live_workers(slots, hands, timedelta(seconds=6)).is_known
    assert live_workers(slots, hands, timedelta(seconds=6.1)).is_known


def test_a_worker_that_does_not_say_what_it_has_in_hand_leaves_the_picture_incomplete() -> None:
    slots, hands = SlotBoard(), HandBoard()
    slots.hear(WorkerSlots(worker_id="old", slots={Step.INGEST: 1}))
    assert not live_workers(slots, hands, timedelta(minutes=1)).is_complete
    hands.hear(WorkerHands(worker_id="old", commands=()))
    assert live_workers(slots, hands, timedelta(minutes=1)).is_complete
