"""Ingests many files at once, a bounded number at a time, and sums up."""

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Protocol

import anyio

from services.cli.ingest.outcomes import Outcome, Summary
from services.cli.ingest.sources import Source

IngestOne = Callable[[Source], Awaitable[Outcome]]


class Finished(Protocol):
    """Is told when a file has ended."""

    def finished(self, outcome: Outcome) -> None:
        """This is what became of it."""


async def ingest_all(
    sources: Sequence[Source],
    ingest: IngestOne,
    *,
    at_once: int,
    report: Finished,
    clock: Callable[[], float] = time.monotonic,
) -> Summary:
    """Ingest every file, `at_once` at a time; the outcomes are in the order of the files."""
    started = clock()
    outcomes: list[Outcome | None] = [None] * len(sources)
    waiting = iter(enumerate(sources))

    async def take_turns(rest: Iterator[tuple[int, Source]]) -> None:
        for number, source in rest:
            outcome = outcomes[number] = await ingest(source)
            report.finished(outcome)

    async with anyio.create_task_group() as tasks:
        for _ in range(min(at_once, len(sources))):
            tasks.start_soon(take_turns, waiting)
    took = timedelta(seconds=clock() - started)
    return Summary(outcomes=[outcome for outcome in outcomes if outcome is not None], took=took)
