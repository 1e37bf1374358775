"""What happens to the children is shown, and recorded for those who look for it."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from services.cli.home import Home, RunRecord
from services.cli.launcher.watching import ConsoleWatcher
from services.cli.supervision.signals import StopRequests
from tests.unit.services.cli.supervision.units import Clock, FakeUnit

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_restart_is_shown_with_its_reason_and_the_new_process_is_recorded(home: Home) -> None:
    written = io.StringIO()
    log = home.root / "worker.log"
    log.write_text('{"event":"worker.step.failed","level":"error","step":"ingest"}\n')
    worker = FakeUnit("worker", Clock(StopRequests()), log=log, pid=7)
    record = RunRecord(pid=1, url="http://127.0.0.1:8080", started_at=NOON, children={})
    console = Console(file=written, width=200, color_system=None)
    watcher = ConsoleWatcher(console, home, record, [worker])

    watcher.started(worker)
    watcher.ended(worker, timedelta(seconds=0.5))
    worker.pid = 8
    watcher.started(worker)
    watcher.ready()

    assert written.getvalue() == (
        "worker      started as process 7\n"
        "worker      error worker.step.failed step=ingest\n"
        f"worker      ended with code 3, starts again in 0.5 s ({log})\n"
        "worker      started as process 8\n"
    )
    kept = home.read_record()
    assert kept is not None
    assert kept.children == {"worker": 8}
    assert kept.ready_at is not None


def test_while_everything_comes_up_only_errors_are_shown(home: Home) -> None:
    written = io.StringIO()
    log = home.root / "api.log"
    api = FakeUnit("api", Clock(StopRequests()), log=log)
    record = RunRecord(pid=1, url="http://127.0.0.1:8080", started_at=NOON, children={})
    watcher = ConsoleWatcher(Console(file=written, width=200, color_system=None), home, record, [api])
    warning, error = (f'{{"event":"{level}","level":"{level}"}}\n' for level in ("warning", "error"))

    log.write_text(warning + error)
    watcher.show_logs()
    watcher.ready()
    with log.open("a") as more:
        more.write(warning)
    watcher.show_logs()

    assert written.getvalue() == "api         error error\napi         warning warning\n"
