"""Plays scenarios on gateways of its own and tells how every rule came out."""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from tests.conformance.client import CALLS, Client
from tests.conformance.identity import ALICE, Issuer
from tests.conformance.ledger import Ledger
from tests.conformance.rules.errors import CODES
from tests.conformance.rules.finding import Finding
from tests.conformance.rules.stages import ANSWER_RULES
from tests.conformance.scenarios import (
    bounds,
    ending,
    limits,
    listing,
    once,
    permission,
    reading,
    replacing,
    requests,
    revoking,
    signing_in,
    spaces,
)
from tests.conformance.scenarios.scenario import Scenario, World
from tests.conformance.stage import Running, Stage, embedded, scripted

Tell = Callable[[str], None]
"""Takes the report line by line."""

ON_EMBEDDED: Final[Sequence[Scenario]] = (
    *requests.SCENARIOS,
    *signing_in.SCENARIOS,
    *permission.SCENARIOS,
    *reading.SCENARIOS,
    *listing.SCENARIOS,
)
ON_SCRIPTED: Final[Sequence[Scenario]] = (
    *spaces.SCENARIOS,
    *replacing.SCENARIOS,
    *ending.SCENARIOS,
    *revoking.SCENARIOS,
    *bounds.SCENARIOS,
    *once.SCENARIOS,
    *limits.SCENARIOS,
)
TIMEOUT: Final = httpx.Timeout(30.0, connect=5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a run came out."""

    routes: int
    rules: int
    passed: int

    @property
    def is_clean(self) -> bool:
        """Whether every rule holds and every route has answered as it must."""
        return self.passed == self.rules and self.routes == len(CALLS)

    def line(self) -> str:
        """The last line of a report."""
        told = {"routes": self.routes, "rules": self.rules, "passed": self.passed, "failed": self.rules - self.passed}
        return json.dumps(told)


def run(tell: Tell) -> Result:
    """Play everything; a rule that nothing was said of has failed."""
    begin = time.monotonic()
    ledger = ledger_of((*ON_EMBEDDED, *ON_SCRIPTED), tell)
    play(ON_EMBEDDED, embedded, ledger, tell)
    play(ON_SCRIPTED, scripted, ledger, tell)
    ledger.close()
    tell(f"--      took {time.monotonic() - begin:.0f} s")
    return Result(routes=ledger.passed(CALLS.values()), rules=ledger.rules, passed=ledger.passed())


def ledger_of(scenarios: Sequence[Scenario], tell: Tell) -> Ledger:
    """A ledger of these scenarios' rules and of all that hold for single answers."""
    played = [scenario.rule for scenario in scenarios]
    return Ledger((*played, *CODES.values(), *CALLS.values(), *ANSWER_RULES), tell)


def play(scenarios: Sequence[Scenario], stage: Stage, ledger: Ledger, tell: Tell) -> None:
    """Play these scenarios on a gateway that is started for them."""
    with tempfile.TemporaryDirectory(prefix="knowgate-conformance-") as home, stage(Path(home), Issuer()) as gateway:
        tell(f"--      {len(scenarios)} scenarios on the gateway at {gateway.url}")
        asyncio.run(_play(scenarios, gateway, ledger))


async def _play(scenarios: Sequence[Scenario], gateway: Running, ledger: Ledger) -> None:
    async with httpx.AsyncClient(base_url=gateway.url, timeout=TIMEOUT, trust_env=False) as http:
        speaker = Client(http, gateway.issuer, ledger, ALICE, gateway.most_items)
        for scenario in scenarios:
            begin = time.monotonic()
            complaint = await _complaint(scenario, World(gateway=gateway, speaker=speaker))
            ledger.note(Finding(scenario.rule, complaint))
            ledger.tell(scenario.rule, f" in {time.monotonic() - begin:.1f} s")


async def _complaint(scenario: Scenario, world: World) -> str | None:
    """What is wrong; also what an unforeseen answer made of the play itself."""
    try:
        await scenario.play(world)
    except AssertionError as broken:
        return str(broken)
    except Exception as error:  # noqa: BLE001 - a rule that cannot be played is a rule that does not hold
        return f"{type(error).__name__}: {error}"
    return None
