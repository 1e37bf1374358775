"""One run: come up, restart the broker so many times while work flows, wait for everything, tell what was lost."""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from services.cli.stack import Stack
from tests.reconnect.brokers import Broker, OneServer, ThreeServers
from tests.reconnect.deliveries import Deliveries, open_watch
from tests.reconnect.load import Load, load_on

Tell = Callable[[str], None]

STALLED_AFTER: Final = timedelta(seconds=20)
MOST_STALLS_IN_A_ROW: Final = 3
TOLD_EVERY: Final = 50
LONGEST_WORK: Final = 0.3
"""Seconds that pass at most between a delivery and the next restart: it hits publishing, fetching, acknowledging."""
AWAY: Final = ((0.9, 0.0), (0.98, 0.2), (1.0, 2.0))
"""For how many seconds the broker stays away, with the share of restarts up to which that goes."""

VARIABLES: Final = {
    "KNOWGATE_PROVIDER_KIND": "scripted",
    "KNOWGATE_NATS_ACK_WAIT": "2",
    "KNOWGATE_NATS_RECONNECT_WAIT": "0.1",
    "KNOWGATE_PIPELINE_RETRY_FIRST_WAIT": "0.1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is to be tried."""

    restarts: int
    seed: int
    is_cluster: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a run came out."""

    wanted: int
    restarts: int
    operations: int
    lost: int
    """Accepted operations that did not end SUCCEEDED."""
    stalled: int
    """How often nothing was delivered for a while although the broker was back and work waited."""

    @property
    def is_clean(self) -> bool:
        """Whether there were as many restarts as wanted, and nothing came of them."""
        return self.restarts == self.wanted and self.operations > 0 and self.lost == self.stalled == 0

    def line(self) -> str:
        """The last line of a report."""
        told = {"restarts": self.restarts, "operations": self.operations, "lost": self.lost, "stalled": self.stalled}
        return json.dumps(told)


def run(trial: Trial, tell: Tell) -> Result:
    """Try it in a temporary home with a broker that is ours."""
    with tempfile.TemporaryDirectory(prefix="knowgate-reconnect-") as directory:
        home = Path(directory)
        broker: Broker = ThreeServers(home / "cluster") if trial.is_cluster else OneServer(home / "broker")
        with broker:
            variables = {**VARIABLES, **broker.variables, "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(home / "scripted.db")}
            with Stack(home / "home", variables=variables) as stack:
                return asyncio.run(_Run(trial, broker, tell).on(stack))


class _Run:
    """The restarts of one run."""

    def __init__(self, trial: Trial, broker: Broker, tell: Tell) -> None:
        self._trial = trial
        self._broker = broker
        self._tell = tell
        self._dice = random.Random(trial.seed)
        self._stalled = 0

    async def on(self, stack: Stack) -> Result:
        deliveries = await open_watch(self._broker.variables["KNOWGATE_NATS_URL"])
        async with load_on(stack) as load, asyncio.TaskGroup() as tasks:
            tasks.create_task(load.run())
            restarts = await self._restart(load, deliveries)
            load.is_over.set()
        await deliveries.close()
        for operation_id in load.lost:
            self._tell(f"lost: {operation_id}")
        return Result(
            wanted=self._trial.restarts,
            restarts=restarts,
            operations=load.accepted,
            lost=len(load.lost),
            stalled=self._stalled,
        )

    async def _restart(self, load: Load, deliveries: Deliveries) -> int:
        """As often as wanted, or until nothing moves any more."""
        began = time.monotonic()
        for done in range(self._trial.restarts):
            if not await self._moves(load, deliveries):
                return done
            await asyncio.sleep(self._dice.uniform(0, LONGEST_WORK))
            await asyncio.to_thread(self._broker.restart, self._dice, self._away())
            if (done + 1) % TOLD_EVERY == 0:
                self._tell(f"{done + 1} restarts, {load.accepted} operations, {time.monotonic() - began:.0f} s")
        if not await self._moves(load, deliveries):
            self._tell("nothing moves after the last restart")
        return self._trial.restarts

    async def _moves(self, load: Load, deliveries: Deliveries) -> bool:
        """Wait for a delivery; every time that none comes although work waits is a stall."""
        for _ in range(MOST_STALLS_IN_A_ROW):
            if await deliveries.more(STALLED_AFTER):
                return True
            self._stalled += load.waiting > 0
            self._tell(f"nothing was delivered for {STALLED_AFTER.total_seconds():.0f} s, {load.waiting} wait")
        return False

    def _away(self) -> float:
        share = self._dice.random()
        return next(seconds for most, seconds in AWAY if share < most)
