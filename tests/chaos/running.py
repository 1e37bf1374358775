"""One run: come up, load, break, let it come to rest, look at everything, judge, go down."""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskGroup

from tests.chaos.asking import Asker
from tests.chaos.breaking import Breaker
from tests.chaos.changing import Changer
from tests.chaos.following import follow, poll
from tests.chaos.gathering import gather, read_rows
from tests.chaos.ledger import Ledger
from tests.chaos.oracle.invariants import judge
from tests.chaos.oracle.world import Violation
from tests.chaos.provider import ProviderSide
from tests.chaos.quiet import leftovers, until_quiet
from tests.chaos.replaying import read_events, replay
from tests.chaos.report import Report, report
from tests.chaos.stage import Stage, set_up
from tests.chaos.tenants import TENANTS, Tenant, opened

CHANGERS: Final = 2
ASKERS: Final = 2
"""Of each tenant."""
FIRST_LOAD: Final = 3.0
"""Seconds of load before the first fault."""
READ_WITHIN: Final = 60.0

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is to be run."""

    seed: int
    seconds: float
    """Of load under fire."""
    rest: float
    """How long everything may take to come to rest afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it."""

    report: Report
    violations: tuple[Violation, ...]
    strange: Counter[str]
    """Answers that do not keep the contract, by their words."""

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept and every answer was one."""
        return self.report.is_clean and not self.strange


def run(trial: Trial, home: Path, provider: ProviderSide, tell: Tell) -> Outcome:
    """Run it in a home of its own; nothing of it runs afterwards."""
    dice = random.Random(trial.seed)
    ledger = Ledger()
    with set_up(home, provider) as stage:
        tell(f"up at {stage.stack.record().url}, database {stage.url}")
        breaker = Breaker(stage, random.Random(dice.random()), tell)
        anyio.run(_under_fire, stage, breaker, ledger, trial, dice, tell)
        waiting = anyio.run(leftovers, stage)
        received = anyio.run(read_events, stage)
        stage.stack.stop()
        rows = read_rows(stage.url)
        again = anyio.run(replay, stage, received, dice)
        world = gather(ledger, rows, provider, stage.stack.home.objects, waiting, again)
    violations = tuple(judge(world))
    tell(f"{len(world.answers)} searches and citations answered, {ledger.unavailable} to be asked again")
    tell(f"refused: {dict(ledger.refused)}; {len(received)} events; {len(world.transitions)} transitions")
    return Outcome(
        report=report(trial.seed, world, breaker.faults, violations), violations=violations, strange=ledger.strange
    )


async def _under_fire(
    stage: Stage, breaker: Breaker, ledger: Ledger, trial: Trial, dice: random.Random, tell: Tell
) -> None:
    stop = anyio.Event()
    async with AsyncExitStack() as stack, anyio.create_task_group() as following:
        tenants = [
            await stack.enter_async_context(opened(stage.stack, name, ledger, random.Random(dice.random())))
            for name in TENANTS
        ]
        with anyio.move_on_after(trial.seconds + trial.rest):
            for tenant in tenants:
                following.start_soon(poll, tenant)
                following.start_soon(follow, tenant)
            async with anyio.create_task_group() as loading:
                await _load(loading, tenants, stop)
                await anyio.sleep(FIRST_LOAD)
                await breaker.run(trial.seconds)
                stop.set()
            tell("no more faults and no more load")
            took = await until_quiet(stage, tenants, trial.rest)
            tell(f"at rest after {took:.1f} s")
        following.cancel_scope.cancel()


async def _load(group: TaskGroup, tenants: list[Tenant], stop: anyio.Event) -> None:
    """Make every tenant's first things, then start everybody."""
    for tenant in tenants:
        changers = [Changer(tenant, stop) for _ in range(CHANGERS)]
        await changers[0].prepare()
        for changer in changers:
            group.start_soon(changer.run)
        others = [other for other in tenants if other is not tenant]
        for _ in range(ASKERS):
            group.start_soon(Asker(tenant, others, stop).run)
