"""The short form of `make chaos`: parts are killed and stopped under load, and then every promise holds."""

from pathlib import Path

from tests.chaos.oracle.invariants import INVARIANTS
from tests.chaos.provider import Scripted
from tests.chaos.running import Trial, run


def test_every_promise_holds_when_parts_are_killed_and_stopped_under_load(tmp_path: Path) -> None:
    told: list[str] = []
    provider = Scripted(tmp_path / "provider.sqlite")

    outcome = run(Trial(seed=1, seconds=30, rest=240), tmp_path / "home", provider, told.append)

    figures = outcome.report
    assert outcome.violations == (), told
    assert not outcome.strange, told
    assert figures.invariants == dict.fromkeys(INVARIANTS, 0)
    assert figures.accepted == figures.succeeded + figures.failed + figures.cancelled
    assert figures.succeeded > 0
    assert figures.kills + figures.stalls > 0
