"""What is known of cancelled operations."""

import asyncio

from services.worker.cancelled import CancelledOperations
from shared.contracts.ids import OperationId
from shared.domain.errors import StoreUnavailable

ONE, TWO = OperationId("op_1"), OperationId("op_2")


class Scene:
    """A worker, and a bucket of what was said before it listened."""

    def __init__(self) -> None:
        self.said: set[OperationId] = set()
        self.asked, self.generation, self.is_there = 0, 0, True
        self.known = CancelledOperations(self.said_before, generation=lambda: self.generation)

    async def said_before(self) -> set[OperationId]:
        self.asked += 1
        await asyncio.sleep(0)
        if not self.is_there:
            raise StoreUnavailable
        return set(self.said)


async def test_what_was_heard_is_known() -> None:
    scene = Scene()
    scene.known.hear(ONE)
    assert await scene.known.includes(ONE)
    assert not await scene.known.includes(TWO)


async def test_what_was_said_before_is_asked_for_once() -> None:
    scene = Scene()
    scene.said = {ONE}
    answers = await asyncio.gather(*(scene.known.includes(ONE) for _ in range(5)))
    assert answers == [True] * 5
    assert scene.asked == 1


async def test_after_a_reconnect_it_is_asked_for_again_and_nothing_is_forgotten() -> None:
    scene = Scene()
    scene.known.hear(ONE)
    assert not await scene.known.includes(TWO)
    scene.said, scene.generation = {TWO}, 1
    assert await scene.known.includes(TWO)
    assert await scene.known.includes(ONE)


async def test_what_cannot_be_found_out_counts_as_not_cancelled_until_it_can() -> None:
    scene = Scene()
    scene.said, scene.is_there = {ONE}, False
    assert not await scene.known.includes(ONE)
    scene.is_there = True
    assert await scene.known.includes(ONE)
