"""Puts the poisons in, good documents after each, and counts what becomes of them."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from shared.client.errors import StillRunning
from shared.client.waiting import has_succeeded
from tests.poison.bad import WAVES, Poison
from tests.poison.scene import Scene, Trial, on_stage

AT_ONCE = 4
"""Good documents of one poison that are sent at once."""

Tell = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class Result:
    """The figures of one run."""

    bad: int = 0
    bad_ended: int = 0
    good: int = 0
    good_succeeded: int = 0
    blamed: int = 0
    """Retries that were counted for good documents whose worker was not killed."""

    @property
    def is_clean(self) -> bool:
        """Whether every bad one has ended and every good one has succeeded, untouched."""
        return self.bad == self.bad_ended > 0 and self.good == self.good_succeeded > 0 and not self.blamed

    def line(self) -> str:
        """The last line of a report."""
        names = ("bad", "bad_ended", "good", "good_succeeded")
        return json.dumps({name: getattr(self, name) for name in names})


def run(trial: Trial, tell: Tell) -> Result:
    """Try every poison of the trial's provider on a gateway of its own."""
    result = Result()

    async def play(scene: Scene) -> None:
        for wave in WAVES[trial.provider]:
            async with asyncio.TaskGroup() as group:
                for poison in wave:
                    group.create_task(_one(scene, poison, trial, result, tell))

    on_stage(trial, play)
    return result


async def _one(scene: Scene, poison: Poison, trial: Trial, result: Result, tell: Tell) -> None:
    name = poison.__name__.replace("_", " ")
    result.bad += 1
    placed = asyncio.Event()
    dying = asyncio.create_task(_end_of(scene, poison, placed))
    waiting = asyncio.create_task(placed.wait())
    await asyncio.wait({dying, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    succeeded, blamed = await _good_ones(scene, name, trial.good, tell)
    result.good += trial.good
    result.good_succeeded += succeeded
    result.blamed += blamed
    reason = await dying
    result.bad_ended += reason is not None
    tell(f"{name}: ended with {reason}; {succeeded} of {trial.good} good ones succeeded, {blamed} were blamed")


async def _end_of(scene: Scene, poison: Poison, placed: asyncio.Event) -> str | None:
    try:
        return await poison(scene, placed)
    except (StillRunning, TimeoutError):
        return None


async def _good_ones(scene: Scene, name: str, number: int, tell: Tell) -> tuple[int, int]:
    """How many have succeeded, and how many retries were counted for which no kill of their worker is the reason."""
    left, succeeded, blamed = list(range(number)), 0, 0

    async def send_some() -> None:
        nonlocal succeeded, blamed
        while left:
            content = f"# {name}\n\nGood document number {left.pop()} after it.\n".encode()
            accepted = await scene.talk.submit("good.md", content)
            operation = await scene.end_of(accepted.operation_id)
            succeeded += has_succeeded(operation)
            retries = max(0, (operation.retry_count or 0) - scene.crashes[operation.operation_id])
            blamed += retries
            if retries:
                tell(f"a good one was retried for {scene.failures[operation.operation_id]}")

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(send_some())
    return succeeded, blamed
