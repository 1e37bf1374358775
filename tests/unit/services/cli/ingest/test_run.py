"""Many files are ingested together, but never more than were allowed."""

from dataclasses import dataclass, field
from pathlib import Path

import anyio

from services.cli.ingest.outcomes import Outcome, Result
from services.cli.ingest.run import ingest_all
from services.cli.ingest.sources import Source


@dataclass
class Counting:
    """Counts how many are under way, and which have ended."""

    running: int = 0
    most: int = 0
    ended: list[str] = field(default_factory=list)

    async def ingest(self, source: Source) -> Outcome:
        self.running += 1
        self.most = max(self.most, self.running)
        await anyio.lowlevel.checkpoint()
        self.running -= 1
        result = Result.FAILED if source.name == "7" else Result.READY
        return Outcome(source=source, result=result, reason="broken" if result is Result.FAILED else "")

    def finished(self, outcome: Outcome) -> None:
        self.ended.append(outcome.source.name)


async def test_no_more_than_allowed_run_at_once_and_all_are_summed_up() -> None:
    counting = Counting()
    sources = [Source(Path(f"/{number}"), str(number)) for number in range(20)]

    summary = await ingest_all(sources, counting.ingest, at_once=3, report=counting, clock=iter([10.0, 12.5]).__next__)

    assert counting.most == 3
    assert [outcome.source.name for outcome in summary.outcomes] == [str(number) for number in range(20)]
    assert sorted(counting.ended, key=int) == [str(number) for number in range(20)]
    assert (summary.count(Result.READY), summary.count(Result.FAILED)) == (19, 1)
    assert [outcome.reason for outcome in summary.failures] == ["broken"]
    assert summary.took.total_seconds() == 2.5
