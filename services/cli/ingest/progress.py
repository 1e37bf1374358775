"""Shows how far an ingestion is: bars on a terminal, a line for each file elsewhere."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from services.cli.ingest.outcomes import Outcome, Result, Summary
from services.cli.ingest.sources import Source
from shared.contracts.enums import OperationStatus

NAME_WIDTH = 44
MARKS = {
    Result.READY: "[green]✓[/]",
    Result.REPLACED: "[green]↻[/]",
    Result.SKIPPED: "[dim]–[/]",
    Result.FAILED: "[red]✗[/]",
}
WORDS = {OperationStatus.PENDING: "queued", OperationStatus.RUNNING: "ingesting"}


class Report:
    """Follows every file of a run on a console, and then sums up."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}", markup=True),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[phase]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._all = self._bars.add_task("[bold]all files", total=total, phase=f"0/{total}")
        self._total = total
        self._ended = 0
        self._is_silent = False
        self._tasks: dict[Source, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def hashing(self, source: Source) -> None:
        """A bar of its own begins."""
        self._tasks[source] = self._bars.add_task(_short(source.name), total=None, phase="reading")

    def sending(self, source: Source, sent: int, size: int) -> None:
        """The bar shows bytes."""
        self._bars.update(self._tasks[source], total=size, completed=sent, phase="sending")

    def working(self, source: Source, status: OperationStatus, percent: int | None) -> None:
        """The bar shows the provider's percentage, and only moves to and fro when there is none."""
        total = None if percent is None else 100
        self._is_silent = False
        phase = WORDS.get(status, "done")
        self._bars.update(self._tasks[source], total=total, completed=percent or 0, phase=phase)

    def unanswered(self, source: Source) -> None:
        """A line once, until the gateway answers again."""
        if not self._is_silent:
            self._is_silent = True
            self._console.print("The gateway does not answer; waiting for it. Ctrl-C and a second run go on later.")
        self._bars.update(self._tasks[source], phase="no answer")

    def finished(self, outcome: Outcome) -> None:
        """The bar of the file goes, a line about it stays."""
        self._bars.remove_task(self._tasks.pop(outcome.source))
        self._ended += 1
        self._bars.update(self._all, completed=self._ended, phase=f"{self._ended}/{self._total}")
        reason = f"  [dim]{escape(outcome.reason)}[/]" if outcome.reason else ""
        self._console.print(
            f"{MARKS[outcome.result]} {escape(outcome.source.name)}{reason}", highlight=False, soft_wrap=True
        )


def print_summary(console: Console, summary: Summary) -> None:
    """How many ended how, and each failure with its reason."""
    counts = ", ".join(f"{summary.count(result)} {result.value}" for result in Result)
    files = "1 file" if len(summary.outcomes) == 1 else f"{len(summary.outcomes)} files"
    console.print(f"\n{files} in {summary.took.total_seconds():.1f} s: {counts}", highlight=False)
    if summary.failures:
        console.print("[red]Failed:[/]")
    for outcome in summary.failures:
        console.print(
            f"  {escape(str(outcome.source.path))}\n    {escape(outcome.reason)}", highlight=False, soft_wrap=True
        )


def _short(name: str) -> str:
    return escape(name if len(name) <= NAME_WIDTH else f"…{name[-NAME_WIDTH + 1 :]}").ljust(NAME_WIDTH)
