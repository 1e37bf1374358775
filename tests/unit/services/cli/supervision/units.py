"""Units that live by a clock of their own, and a watcher that remembers what it was told."""

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from services.cli.supervision.signals import StopRequests
from services.cli.supervision.units import Unit


@dataclass
class Clock:
    """Moves only by pauses. At `stop_at` it asks for the stop, as a person would."""

    requests: StopRequests
    stop_at: float = 1000.0
    ticks: int = 0
    """Milliseconds: sums of fractions would not be exact."""

    @property
    def now(self) -> float:
        return self.ticks / 1000

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.ticks += round(seconds * 1000)
        if self.now >= self.stop_at and not self.requests.is_stopping:
            self.requests.add()


@dataclass
class FakeUnit:
    """Each run lasts as long as `runs` say, the ones after them for ever."""

    name: str
    clock: Clock
    runs: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    stop_blocks: bool = False
    ends_at: float = 0.0
    killed: bool = False
    let_go: threading.Event = field(default_factory=threading.Event)
    """A stop that blocks ends with this."""
    stopped_within: timedelta | None = None
    refuses_starts: int = 0
    log: Path = Path("unit.log")
    pid: int = 7

    def start(self) -> None:
        self.starts.append(round(self.clock.now, 2))
        if self.refuses_starts and len(self.starts) > 1:
            self.refuses_starts -= 1
            raise OSError("no more processes")
        self.ends_at = round(self.clock.now + self.runs.pop(0), 3) if self.runs else float("inf")

    def is_running(self) -> bool:
        return bool(self.starts) and self.clock.now < self.ends_at

    def ending(self) -> str:
        return "code 3"

    def stop(self, within: timedelta) -> None:
        self.stopped_within = within
        if self.stop_blocks:
            self.let_go.wait(timeout=10)
        self.ends_at = self.clock.now

    def kill(self) -> None:
        self.killed = True
        self.let_go.set()
        self.ends_at = self.clock.now


@dataclass
class Told:
    """What a watcher was told, in order."""

    words: list[str] = field(default_factory=list)

    def started(self, unit: Unit) -> None:
        self.words.append(f"{unit.name} started")

    def ended(self, unit: Unit, wait: timedelta) -> None:
        self.words.append(f"{unit.name} ended, again in {wait.total_seconds():g}")

    def stopping(self, unit: Unit) -> None:
        self.words.append(f"{unit.name} stopping")

    def stopped(self, unit: Unit) -> None:
        self.words.append(f"{unit.name} stopped")
