"""Starts units in order, starts them again when they end, stops them in the opposite order."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from services.cli.supervision.backoff import Backoff
from services.cli.supervision.signals import StopRequests
from services.cli.supervision.units import Unit
from shared.messaging.local_server import ServerNotStarted

TICK = timedelta(milliseconds=50)
GIVE_UP_AFTER = 4
"""So many short runs in a row, before everything was ready once, and the unit is taken for one that cannot start."""


class Watcher(Protocol):
    """Is told what happens to the units, to show or to record it."""

    def started(self, unit: Unit) -> None:
        """It runs."""

    def ended(self, unit: Unit, wait: timedelta) -> None:
        """It has ended by itself and is started again after `wait`."""

    def stopping(self, unit: Unit) -> None:
        """It was asked to stop."""

    def stopped(self, unit: Unit) -> None:
        """It has stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Units that are started together, and stopped together within a deadline."""

    units: Sequence[Unit]
    stop_within: timedelta


class CannotStart(Exception):
    """A unit ends again and again before everything was ready once."""

    def __init__(self, name: str, ending: str, log: Path) -> None:
        super().__init__(f"{name} does not start: it ended with {ending} {GIVE_UP_AFTER} times.")
        self.log = log


@dataclass(slots=True)
class _Run:
    """The present run of a unit."""

    unit: Unit
    started: float = 0.0
    start_again: float | None = None
    backoff: Backoff = field(default_factory=Backoff)


class Supervisor:
    """Keeps the units of its stages running until it is asked to stop. One thread calls it."""

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        requests: StopRequests,
        watcher: Watcher,
        tick: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._stages = tuple(stages)
        self._runs = [_Run(unit) for stage in stages for unit in stage.units]
        self._requests = requests
        self._watcher = watcher
        self._tick = tick
        self._clock = clock
        self._pause = pause
        self._was_ready = False

    def start(self) -> None:
        """Start every unit, stage by stage; stops early when asked to stop."""
        for run in self._runs:
            if self._requests.is_stopping:
                return
            self._start(run)

    def watch(self) -> None:
        """Start again what ends, until stopping is asked for; `tick` is called again and again meanwhile.

        `CannotStart` when a unit never gets going.
        """
        while not self._requests.is_stopping:
            for run in self._runs:
                self._look_at(run)
            self._tick()
            self._pause(TICK.total_seconds())

    def ready(self) -> None:
        """Everything works: from now on a unit that ends is started again for ever."""
        self._was_ready = True

    def stop(self) -> None:
        """Stop the units, the last stage first; asked again meanwhile, kill them all."""
        for stage in reversed(self._stages):
            self._stop(stage)

    def _start(self, run: _Run) -> None:
        run.unit.start()
        run.started, run.start_again = self._clock(), None
        self._watcher.started(run.unit)

    def _look_at(self, run: _Run) -> None:
        if run.unit.is_running():
            return
        now = self._clock()
        if run.start_again is None:
            run.backoff = run.backoff.after(timedelta(seconds=now - run.started))
            if not self._was_ready and run.backoff.short_runs >= GIVE_UP_AFTER:
                raise CannotStart(run.unit.name, run.unit.ending(), run.unit.log)
            run.start_again = now + run.backoff.wait.total_seconds()
            self._watcher.ended(run.unit, run.backoff.wait)
        if now >= run.start_again:
            self._start_again(run, now)

    def _start_again(self, run: _Run, now: float) -> None:
        """A start that fails counts as a short run."""
        run.started, run.start_again = now, None
        with suppress(OSError, ServerNotStarted):
            self._start(run)

    def _stop(self, stage: Stage) -> None:
        running = [unit for unit in stage.units if unit.is_running()]
        stops = [threading.Thread(target=unit.stop, args=(stage.stop_within,), daemon=True) for unit in running]
        for unit, stop in zip(running, stops, strict=True):
            self._watcher.stopping(unit)
            stop.start()
        while any(stop.is_alive() for stop in stops):
            if self._requests.is_urgent:
                self._kill_all()
            self._pause(TICK.total_seconds())
        for unit in running:
            self._watcher.stopped(unit)

    def _kill_all(self) -> None:
        for run in self._runs:
            run.unit.kill()
