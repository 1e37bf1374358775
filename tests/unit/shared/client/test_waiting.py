"""The gateway holds its answer back until the end; it is asked as often as that takes, and no longer than allowed."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from shared.client.errors import StillRunning
from shared.client.gateway import AT_ONCE
from shared.client.waiting import Waiting, has_succeeded
from shared.contracts.enums import OperationStatus, OperationType, SpaceStatus
from shared.contracts.ids import OperationId, SpaceId
from shared.contracts.operations import Operation
from shared.contracts.spaces import Space
from shared.domain.errors import StoreUnavailable

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def operation(status: OperationStatus, poll_after: int | None) -> Operation:
    return Operation(
        operation_id=OperationId("op_1"),
        status=status,
        operation_type=OperationType.DOCUMENT_UPLOAD,
        created_at=NOON,
        next_poll_after_ms=poll_after,
    )


def space(status: SpaceStatus) -> Space:
    return Space(space_id=SpaceId("spc_1"), code="c", name="n", status=status, version=1)


@dataclass
class Answers:
    """What is read, one after the other, by a clock that only pauses and answers that are held back move."""

    operations: list[Operation | Exception] = field(default_factory=list)
    spaces: list[Space] = field(default_factory=list)
    now: float = 0.0
    pauses: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    holds_back: bool = True

    async def get_operation(self, operation_id: OperationId, *, wait: timedelta = AT_ONCE) -> Operation:
        answer = self.operations.pop(0)
        self.waits.append(wait.total_seconds())
        if self.holds_back and isinstance(answer, Operation) and answer.next_poll_after_ms != 0:
            self.now += wait.total_seconds()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def get_space(self, space_id: SpaceId) -> Space:
        return self.spaces.pop(0)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def waiting(self, seconds: float) -> Waiting:
        hold = timedelta(seconds=5)
        return Waiting(within=timedelta(seconds=seconds), clock=lambda: self.now, pause=self.pause, hold=hold)


async def test_the_first_look_is_answered_at_once_and_later_ones_are_held_back() -> None:
    answers = Answers(
        operations=[
            operation(OperationStatus.PENDING, 250),
            operation(OperationStatus.RUNNING, 4000),
            operation(OperationStatus.RUNNING, 60_000),
            operation(OperationStatus.SUCCEEDED, 0),
        ]
    )

    ended = await answers.waiting(60).for_operation(answers, OperationId("op_1"))

    assert has_succeeded(ended)
    assert answers.waits == [0, 5, 5, 5]
    assert answers.pauses == []
    assert answers.now == 10


async def test_a_gateway_that_holds_nothing_back_is_looked_at_when_it_asks_for_it() -> None:
    answers = Answers(
        holds_back=False,
        operations=[
            operation(OperationStatus.PENDING, 250),
            operation(OperationStatus.PENDING, 250),
            operation(OperationStatus.RUNNING, 4000),
            operation(OperationStatus.RUNNING, None),
            operation(OperationStatus.SUCCEEDED, 0),
        ],
    )

    ended = await answers.waiting(60).for_operation(answers, OperationId("op_1"))

    assert has_succeeded(ended)
    assert answers.pauses == [0.25, 4.0, 1.0]


async def test_who_wants_nothing_held_back_looks_when_the_gateway_asks_for_it_from_the_first_look_on() -> None:
    answers = Answers(operations=[operation(OperationStatus.RUNNING, 4000) for _ in range(4)])
    waiting = Waiting(within=timedelta(seconds=10), clock=lambda: answers.now, pause=answers.pause, hold=timedelta(0))

    with pytest.raises(StillRunning):
        await waiting.for_operation(answers, OperationId("op_1"))

    assert answers.waits == [0, 0, 0, 0]
    assert answers.pauses == [4.0, 4.0, 2.0]


async def test_a_failed_operation_is_an_end_too() -> None:
    answers = Answers(operations=[operation(OperationStatus.FAILED, 0)])

    assert not has_succeeded(await answers.waiting(60).for_operation(answers, OperationId("op_1")))


async def test_a_gateway_that_is_away_for_a_while_does_not_end_the_wait() -> None:
    away = StoreUnavailable(retry_after=timedelta(seconds=3))
    answers = Answers(operations=[away, operation(OperationStatus.SUCCEEDED, 0)])

    await answers.waiting(60).for_operation(answers, OperationId("op_1"))

    assert answers.pauses == [3.0]


async def test_time_runs_out_at_the_deadline_and_not_after_the_next_look() -> None:
    answers = Answers(operations=[operation(OperationStatus.RUNNING, 60_000) for _ in range(4)])

    with pytest.raises(StillRunning, match="operation op_1 has not ended within 12 s"):
        await answers.waiting(12).for_operation(answers, OperationId("op_1"))

    assert (answers.waits, answers.pauses, answers.now) == ([0, 5, 5, 2], [], 12)


async def test_nor_when_nothing_is_held_back() -> None:
    answers = Answers(holds_back=False, operations=[operation(OperationStatus.RUNNING, 60_000) for _ in range(4)])

    with pytest.raises(StillRunning, match="operation op_1 has not ended within 90 s"):
        await answers.waiting(90).for_operation(answers, OperationId("op_1"))

    assert answers.pauses == [60.0, 30.0]
    assert answers.waits == [0, 5, 5, 0]


async def test_each_look_is_shown() -> None:
    answers = Answers(operations=[operation(OperationStatus.RUNNING, 1), operation(OperationStatus.SUCCEEDED, 0)])
    seen: list[OperationStatus] = []

    async def show(operation: Operation) -> None:
        seen.append(operation.status)

    waiting = Waiting(within=timedelta(seconds=9), clock=lambda: answers.now, pause=answers.pause, seen=show)
    await waiting.for_operation(answers, OperationId("op_1"))

    assert seen == [OperationStatus.RUNNING, OperationStatus.SUCCEEDED]


async def test_a_gateway_that_does_not_answer_is_told_of_and_asked_again() -> None:
    answers = Answers(operations=[StoreUnavailable(), StoreUnavailable(), operation(OperationStatus.SUCCEEDED, 0)])
    missed: list[str] = []
    waiting = Waiting(
        within=timedelta(seconds=9),
        clock=lambda: answers.now,
        pause=answers.pause,
        missed=lambda error: missed.append(type(error).__name__),
    )

    await waiting.for_operation(answers, OperationId("op_1"))

    assert missed == ["StoreUnavailable", "StoreUnavailable"]


@pytest.mark.parametrize("status", [SpaceStatus.ACTIVE, SpaceStatus.CREATE_FAILED])
async def test_a_space_is_waited_for_until_it_is_not_in_creation(status: SpaceStatus) -> None:
    answers = Answers(spaces=[space(SpaceStatus.CREATING), space(status)])

    assert (await answers.waiting(9).for_space(answers, SpaceId("spc_1"))).status is status
