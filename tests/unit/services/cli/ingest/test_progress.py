"""Every file has its line, and every failure its reason, also where there is no terminal."""

import io
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from services.cli.ingest.outcomes import Outcome, Result, Summary
from services.cli.ingest.progress import Report, print_summary
from services.cli.ingest.sources import Source
from shared.contracts.enums import OperationStatus

GOOD = Outcome(source=Source(Path("/docs/good.md"), "good.md"), result=Result.READY)
BAD = Outcome(source=Source(Path("/docs/bad [1].pdf"), "bad [1].pdf"), result=Result.FAILED, reason="It is encrypted.")


def printed(*, terminal: bool) -> str:
    """What a run of two files prints."""
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=120, color_system=None)
    with Report(console, total=2) as report:
        for outcome in (GOOD, BAD):
            report.hashing(outcome.source)
            report.sending(outcome.source, 5, 10)
            report.working(outcome.source, OperationStatus.RUNNING, 40)
            report.finished(outcome)
    print_summary(console, Summary(outcomes=[GOOD, BAD], took=timedelta(seconds=3.21)))
    return written.getvalue()


def test_without_a_terminal_there_are_lines_alone() -> None:
    assert printed(terminal=False) == (
        "✓ good.md\n"
        "✗ bad [1].pdf  It is encrypted.\n"
        "\n"
        "2 files in 3.2 s: 1 ready, 0 replaced, 0 skipped, 1 failed\n"
        "Failed:\n"
        "  /docs/bad [1].pdf\n"
        "    It is encrypted.\n"
    )


def test_one_file_is_told_as_one() -> None:
    written = io.StringIO()

    print_summary(Console(file=written), Summary(outcomes=[GOOD], took=timedelta(seconds=198)))

    assert written.getvalue() == "\n1 file in 198.0 s: 1 ready, 0 replaced, 0 skipped, 0 failed\n"


def test_on_a_terminal_bars_come_and_go_and_the_lines_stay() -> None:
    shown = printed(terminal=True)

    assert "all files" in shown
    assert "✓ good.md" in shown
    assert "✗ bad [1].pdf" in shown
