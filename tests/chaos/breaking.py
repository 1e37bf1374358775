"""Kills, stops and restarts parts of the gateway at random moments; the seed decides when, what and how."""

import random
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

import anyio
from anyio import to_thread

from tests.chaos.ledger import Fault
from tests.chaos.stage import POSTGRES, Stage

BETWEEN: Final = (1.5, 4.5)
"""Seconds from one fault to the next: never as many as five."""
STALLS: Final = (1.0, 15.0)
"""Seconds that a part stands still; the longer ones outlast `ack_wait` and the projector's lease."""
TWO_AT_ONCE: Final = 0.2
STALLED_AT_ONCE: Final = 2
KILL: Final = "kill"
STALL: Final = "stall"
RESTART: Final = "restart"


class Breaker:
    """One hand that breaks things; what it does is in `faults`."""

    def __init__(self, stage: Stage, dice: random.Random, tell: Callable[[str], None]) -> None:
        self._stage = stage
        self._dice = dice
        self._tell = tell
        self._busy: set[str] = set()
        self._stalled = 0
        self.faults: list[Fault] = []

    async def run(self, seconds: float) -> None:
        """Break things for so long; when it returns, everything runs again or is being started."""
        until = anyio.current_time() + seconds
        async with anyio.create_task_group() as group:
            while (left := until - anyio.current_time()) > 0:
                await anyio.sleep(min(left, self._dice.uniform(*BETWEEN)))
                for _ in range(2 if self._dice.random() < TWO_AT_ONCE else 1):
                    group.start_soon(self._strike, self._choose(), max(0.0, until - anyio.current_time()))

    def _choose(self) -> tuple[str, Callable[[str, float], Awaitable[None]]] | None:
        """What to hit and how; None when nothing is left that stands."""
        standing = [name for name in (*sorted(self._stage.parts), POSTGRES) if name not in self._busy]
        if not standing:
            return None
        target = self._dice.choice(standing)
        if target == POSTGRES:
            return target, self._dice.choice((self._kill_database, self._restart_database))
        may_stall = self._stalled < STALLED_AT_ONCE
        return target, self._stall if may_stall and self._dice.random() < 0.4 else self._kill

    async def _strike(self, chosen: tuple[str, Callable[[str, float], Awaitable[None]]] | None, left: float) -> None:
        if chosen is None or chosen[0] in self._busy:
            return
        target, how = chosen
        self._busy.add(target)
        try:
            await how(target, left)
        finally:
            self._busy.discard(target)

    async def _kill(self, target: str, left: float) -> None:
        pid = self._stage.parts.get(target)
        if pid is not None and self._stage.signal(pid, signal.SIGKILL):
            self._note(KILL, target, pid)
            while self._stage.parts.get(target) in {None, pid} and left > 0:
                await anyio.sleep(0.1)  # one that is being started again is not killed once more
                left -= 0.1

    async def _stall(self, target: str, left: float) -> None:
        pid, seconds = self._stage.parts.get(target), min(left, self._dice.uniform(*STALLS))
        if pid is None or not self._stage.signal(pid, signal.SIGSTOP):
            return
        self._stalled += 1
        self._note(STALL, target, pid, seconds)
        try:
            await anyio.sleep(seconds)
        finally:
            self._stalled -= 1
            self._stage.signal(pid, signal.SIGCONT)

    async def _kill_database(self, target: str, left: float) -> None:
        self._note(KILL, target, 0)
        await to_thread.run_sync(self._stage.postgres.kill)
        await anyio.sleep(min(left, self._dice.uniform(0.0, 3.0)))
        await to_thread.run_sync(self._stage.postgres.start)

    async def _restart_database(self, target: str, left: float) -> None:
        self._note(RESTART, target, 0)
        await to_thread.run_sync(self._stage.postgres.restart)

    def _note(self, kind: str, target: str, pid: int, seconds: float = 0.0) -> None:
        fault = Fault(at=datetime.now(UTC), kind=kind, target=target, pid=pid, seconds=seconds)
        self.faults.append(fault)
        self._tell(f"{fault.at:%H:%M:%S} {kind} {target}{f' for {seconds:.1f} s' if seconds else ''}")
