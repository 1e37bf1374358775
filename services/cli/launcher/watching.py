"""Shows on the console what happens to the children, and records what runs for those who look for it."""

from collections.abc import Iterable
from datetime import timedelta

from rich.console import Console
from rich.markup import escape

from services.cli.home import Home, RunRecord
from services.cli.launcher.log_tail import LogTail
from services.cli.supervision.units import Unit
from shared.telemetry.stamps import utc_now


class ConsoleWatcher:
    """One line for each thing that happens; warnings and errors from the logs in short."""

    def __init__(self, console: Console, home: Home, record: RunRecord, units: Iterable[Unit]) -> None:
        self._console = console
        self._home = home
        self._record = record
        self._is_coming_up = True
        self._tails = {unit.name: LogTail(unit.log) for unit in units}

    def started(self, unit: Unit) -> None:
        """Tell the process number, and record it."""
        self._say(unit.name, f"[green]started[/] as process {unit.pid}")
        self._keep(children=self._record.children | {unit.name: unit.pid})

    def ended(self, unit: Unit, wait: timedelta) -> None:
        """Tell how it ended, when it starts again and where its log is."""
        self.show_logs()
        again = f"in {wait.total_seconds():g} s" if wait else "at once"
        self._say(
            unit.name, f"[red]ended with {unit.ending()}[/], starts again {again} [dim]({escape(str(unit.log))})[/]"
        )

    def stopping(self, unit: Unit) -> None:
        """Tell that it was asked to stop."""
        self._say(unit.name, "stopping")

    def stopped(self, unit: Unit) -> None:
        """Tell that it has ended."""
        self._say(unit.name, "stopped")

    def ready(self) -> None:
        """Record that everything answers."""
        self._is_coming_up = False
        self._keep(ready_at=utc_now())

    def show_logs(self) -> None:
        """What the children have logged since the last time: errors, and warnings once everything has come up.

        Until then each of them misses the others, and says so.
        """
        for name, tail in self._tails.items():
            for line in tail.loud_lines():
                if line.is_warning and self._is_coming_up:
                    continue
                colour = "yellow" if line.is_warning else "red"
                self._say(name, f"[{colour}]{escape(line.short())}[/]")

    def _keep(self, **changes: object) -> None:
        self._record = self._record.model_copy(update=changes)
        self._home.write_record(self._record)

    def _say(self, name: str, what: str) -> None:
        self._console.print(f"[bold]{escape(name):<11}[/] {what}", highlight=False, soft_wrap=True)
