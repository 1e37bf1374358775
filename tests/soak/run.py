"""Runs the load on a gateway of its own, looks at the memory of each process meanwhile, and tells how it grows."""

import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from services.cli.load.memory import resident_mib
from services.cli.stack import Stack
from tests.e2e.conversation import conversation
from tests.soak.load import Load
from tests.soak.slopes import Sample, Slope, medians, slope_of

SPACE: Final = "soak"
SEED: Final = 20260301
LOOKS_EVERY: Final = timedelta(seconds=1)
LOOKS_TAKEN_TOGETHER: Final = 10
"""A second later a process is much as it was: each ten looks count as one."""
WARM_UP: Final = 0.3
"""The share of the time in which caches fill and allocators find their size."""
HOUR: Final = 3600.0
MOST_MIB_PER_HOUR: Final = 60.0
"""The bar for the lower end of a slope's interval, for runs of 20 minutes.

At this load of about eight requests a second, 60 MiB an hour are 2 KiB that are kept of every request. Without a leak
the caches of SQLite grow with the tables, up to 64 MiB in a writer and 16 in each reader: in a run of 20 minutes the
lower ends were 11 of the api and of the worker, and 7 of the projector. In five minutes they were up to 44.
"""
OF_OTHERS: Final = {"nats": 200.0}
"""The bars of programs that are not ours. The broker remembers message ids for ten minutes, and its collector lets the
heap grow in steps: the lower end was 11 in 20 minutes, and 187 in five."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The figures of one run."""

    minutes: float
    documents: int
    deleted: int
    searches: int
    failed: int
    restarted: tuple[str, ...]
    mib_per_hour: Mapping[str, Slope]

    @property
    def is_clean(self) -> bool:
        """Whether all work succeeded, no process was replaced, and none surely grows by more than the bar."""
        grows = any(slope.low > OF_OTHERS.get(name, MOST_MIB_PER_HOUR) for name, slope in self.mib_per_hour.items())
        return self.documents > 0 and not self.failed and not self.restarted and not grows

    def line(self) -> str:
        """The last line of a report."""
        rounded = {
            name: {end: round(value, 2) for end, value in asdict(slope).items()}
            for name, slope in self.mib_per_hour.items()
        }
        told = {
            "minutes": round(self.minutes, 1),
            "documents": self.documents,
            "deleted": self.deleted,
            "searches": self.searches,
            "failed": self.failed,
            "restarted": self.restarted,
            "mib_per_hour": rounded,
        }
        return json.dumps(told)


def run(minutes: float, tell: Tell) -> Result:
    """Come up in a temporary home, load it for so long, go down."""
    with tempfile.TemporaryDirectory(prefix="knowgate-soak-") as directory, Stack(Path(directory) / "home") as stack:
        return asyncio.run(_soak(stack, minutes, tell))


async def _soak(stack: Stack, minutes: float, tell: Tell) -> Result:
    load, watch = Load(), Watch(stack)
    async with conversation(stack, SPACE) as talk, asyncio.TaskGroup() as tasks:
        tasks.create_task(load.run(talk, SEED))
        await watch.look_for(timedelta(minutes=minutes), lambda: tell(f"{load.documents} documents, {watch.latest()}"))
        load.is_over.set()
    return Result(
        minutes=minutes,
        documents=load.documents,
        deleted=load.deleted,
        searches=load.searches,
        failed=len(load.failed),
        restarted=watch.restarted(),
        mib_per_hour=watch.growth(),
    )


class Watch:
    """Looks at the memory of every process of a gateway, children included."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._children = stack.record().children
        self._samples: defaultdict[str, list[Sample]] = defaultdict(list)

    async def look_for(self, duration: timedelta, each_minute: Callable[[], None]) -> None:
        """Look again and again for so long."""
        began = told = time.monotonic()
        while (now := time.monotonic()) - began < duration.total_seconds():
            await asyncio.to_thread(self._look, now - began)
            if now - told >= 60:
                told = now
                each_minute()
            await asyncio.sleep(LOOKS_EVERY.total_seconds())

    def _look(self, at: float) -> None:
        for name, pid in self._children.items():
            self._samples[name].append(Sample(at=at, value=resident_mib([pid])))

    def latest(self) -> str:
        """What each process holds now."""
        return ", ".join(f"{name} {samples[-1].value:.0f} MiB" for name, samples in self._samples.items())

    def restarted(self) -> tuple[str, ...]:
        """The processes that are other ones now."""
        now = self._stack.record().children
        return tuple(name for name, pid in self._children.items() if now.get(name) != pid)

    def growth(self) -> dict[str, Slope]:
        """In MiB an hour, after the warm-up."""
        return {name: _growth(samples) for name, samples in self._samples.items()}


def _growth(samples: list[Sample]) -> Slope:
    warm = [sample for sample in samples if sample.at >= WARM_UP * samples[-1].at]
    return slope_of(medians(warm, of=LOOKS_TAKEN_TOGETHER)).times(HOUR)
