"""Runs everything on this machine until it is asked to stop."""

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr
from rich.console import Console
from rich.markup import escape

from services.cli.access import Access, local_credentials
from services.cli.complaints import Complaint
from services.cli.home import Home, RunRecord
from services.cli.launcher.banner import example_lines
from services.cli.launcher.environment import Environment
from services.cli.launcher.log_tail import last_words
from services.cli.launcher.plan import Sizes, broker_stage, choose_port, given_broker, service_stages
from services.cli.launcher.readiness import ReadinessWatch
from services.cli.launcher.watching import ConsoleWatcher
from services.cli.settings import CliSettings
from services.cli.supervision.signals import StopRequests
from services.cli.supervision.supervisor import CannotStart, Stage, Supervisor
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from shared.messaging.local_server import LocalNatsServer, ServerNotStarted
from shared.telemetry.stamps import utc_now

LATE_AFTER = timedelta(seconds=30)
LOGS_SHOWN_EVERY = timedelta(milliseconds=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What the person asks for."""

    home: Path
    port: int | None
    sizes: Sizes


def run_up(launch: Launch, settings: CliSettings, console: Console, outer: Mapping[str, str]) -> None:
    """Come up, stay up, and go down in order; a Complaint when it cannot come up."""
    home = Home(launch.home.absolute())
    home.create()
    requests = StopRequests()
    with ExitStack() as stack:
        lock = stack.enter_context(home.held())
        stack.enter_context(requests.from_signals())
        environment = Environment(home=home, port=choose_port(launch.port), outer=outer)
        console.print(f"Knowgate in {home.root}", highlight=False, soft_wrap=True)
        upgrade(DatabaseSettings(url=SecretStr(environment.database_url)))
        broker_url, stages = _start_broker(environment, stack)
        stages += service_stages(environment, launch.sizes, broker_url, lock)
        stack.callback(home.remove_record)
        _Up(environment, settings, console, stages, requests).run()


def _start_broker(environment: Environment, stack: ExitStack) -> tuple[str, list[Stage]]:
    """The broker's address, and the stage that keeps it running when it is ours."""
    if not environment.has_own_broker:
        return given_broker(environment), []
    server = LocalNatsServer(environment.home.broker)
    try:
        server.start()
    except ServerNotStarted as error:
        raise Complaint(error.message) from error
    stack.callback(server.stop)
    return server.url, [broker_stage(environment, server)]


class _Up:
    """One launch, from the start of its services to the end of all."""

    def __init__(
        self,
        environment: Environment,
        settings: CliSettings,
        console: Console,
        stages: Sequence[Stage],
        requests: StopRequests,
    ) -> None:
        self._environment = environment
        self._settings = settings
        self._console = console
        record = RunRecord(pid=os.getpid(), url=environment.url, started_at=utc_now(), children={})
        units = [unit for stage in stages for unit in stage.units]
        self._watcher = ConsoleWatcher(console, environment.home, record, units)
        self._readiness = ReadinessWatch(environment.url)
        self._supervisor = Supervisor(stages, requests=requests, watcher=self._watcher, tick=self._tick)
        self._started = time.monotonic()
        self._logs_due = 0.0
        self._is_announced = self._is_late = False

    def run(self) -> None:
        """Start, watch, stop."""
        try:
            self._supervisor.start()
            self._readiness.start()
            self._supervisor.watch()
        except CannotStart as error:
            self._console.print(last_words(error.log), markup=False, highlight=False, soft_wrap=True)
            raise Complaint(str(error), f"Its log is {error.log}.") from error
        finally:
            self._readiness.stop()
            self._supervisor.stop()
            self._watcher.show_logs()

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._logs_due:
            self._logs_due = now + LOGS_SHOWN_EVERY.total_seconds()
            self._watcher.show_logs()
        if self._is_announced:
            return
        if self._readiness.is_ready:
            self._is_announced = True
            self._announce(timedelta(seconds=now - self._started))
        elif not self._is_late and now - self._started > LATE_AFTER.total_seconds():
            self._is_late = True
            self._tell_what_is_late()

    def _announce(self, took: timedelta) -> None:
        self._supervisor.ready()
        self._watcher.ready()
        self._tell(f"\n[bold green]Ready[/] after {took.total_seconds():.1f} s at [bold]{self._environment.url}[/]")
        if self._environment.has_own_identity:
            self._show_examples()
        self._tell("Ctrl-C stops everything.\n")

    def _show_examples(self) -> None:
        credentials = local_credentials(self._environment.home, self._settings)
        access = Access(url=self._environment.url, credentials=credentials)
        home = shlex.quote(str(self._environment.home.root))
        self._tell(
            f"\nToken and requests, good for ten minutes ([bold]knowgate token --home {home}[/] makes new ones):\n"
        )
        for line in example_lines(access):
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._tell("")

    def _tell_what_is_late(self) -> None:
        latest = self._readiness.latest
        what = "the api does not answer yet" if latest is None else f"not ready yet: {', '.join(latest.failed)}"
        self._tell(f"[yellow]{escape(what)}[/]; `knowgate doctor` looks closer.")

    def _tell(self, what: str) -> None:
        self._console.print(what, highlight=False, soft_wrap=True)
