"""A step that no live worker takes is named, whatever the other workers take."""

from datetime import timedelta

from services.api.broker.workers import worker_checks, worker_look
from shared.contracts.catalogue import WorkerHands, WorkerSlots
from shared.contracts.enums import Step
from shared.domain.errors import StoreUnavailable
from shared.messaging.announcements import HandBoard, SlotBoard
from shared.messaging.settings import MessagingSettings


async def failed(board: SlotBoard) -> set[str]:
    """The parts that do not work."""
    found = set()
    for name, check in worker_checks(board).items():
        try:
            await check()
        except StoreUnavailable:
            found.add(name)
    return found


async def test_every_step_is_named_when_there_is_no_worker_at_all() -> None:
    assert await failed(SlotBoard()) == {"workers", *(f"workers.{step.value}" for step in Step)}


async def test_a_step_that_every_worker_leaves_out_is_named() -> None:
    board = SlotBoard()
    board.hear(WorkerSlots(worker_id="one", slots=dict.fromkeys(set(Step) - {Step.INGEST}, 2)))
    board.hear(WorkerSlots(worker_id="two", slots={Step.INGEST: 0, Step.UPLOAD: 1}))
    assert await failed(board) == {"workers.ingest"}


async def test_nothing_is_named_when_the_workers_together_take_every_step() -> None:
    board = SlotBoard()
    board.hear(WorkerSlots(worker_id="one", slots=dict.fromkeys(set(Step) - {Step.INGEST}, 2)))
    board.hear(WorkerSlots(worker_id="two", slots={Step.INGEST: 1}))
    assert await failed(board) == set()


def test_what_was_heard_is_looked_at_when_it_is_asked_for() -> None:
    slots, hands = SlotBoard(), HandBoard()
    settings = MessagingSettings(ack_wait=timedelta(seconds=30))
    look = worker_look(slots, hands, lambda: timedelta(minutes=1), settings)
    slots.hear(WorkerSlots(worker_id="one", slots={Step.INGEST: 1}))
    hands.hear(WorkerHands(worker_id="one", commands=("op_1.ingest.1.1",)))
    workers = look.workers()
    assert (workers.is_known, workers.is_complete, workers.hands) == (True, True, {"op_1.ingest.1.1": "one"})
    assert not workers.is_idle(Step.INGEST)
    assert look.patience == timedelta(seconds=36)
