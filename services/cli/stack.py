"""A whole gateway of one's own for a while: `knowgate up` in a child process, for the demo, the load scripts, tests."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from services.cli.access import Access, local_credentials
from services.cli.complaints import Complaint
from services.cli.home import Home, RunRecord
from services.cli.launcher.environment import OURS
from services.cli.launcher.log_tail import last_words
from services.cli.settings import CliSettings
from shared.messaging.bound_child import BoundChild

READY_WITHIN: Final = timedelta(seconds=120)
STOPS_WITHIN: Final = timedelta(seconds=90)
LOOK: Final = timedelta(milliseconds=50)
LAST_LINES: Final = 60


class Stack:
    """One gateway in one home, up inside its `with` block."""

    def __init__(
        self, home: Path, *, workers: int = 1, projectors: int = 1, variables: Mapping[str, str] | None = None
    ) -> None:
        """`variables` are settings of the product beside those that the launcher makes itself."""
        self.home = Home(home.absolute())
        self._options = ("--home", str(self.home.root), "--port", "0")
        self._sizes = ("--workers", str(workers), "--projectors", str(projectors))
        self._variables = dict(variables or {})
        self._launcher: BoundChild | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def output(self) -> Path:
        """What the launcher prints."""
        return self.home.root / "up.log"

    @property
    def launcher(self) -> BoundChild:
        """The process of `knowgate up`."""
        if self._launcher is None:
            raise RuntimeError("the stack was not started")
        return self._launcher

    def start(self) -> None:
        """Come up; a Complaint with the launcher's last words when that fails or takes too long."""
        self.home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [sys.executable, "-P", "-m", "services.cli.main", "up", *self._options, *self._sizes]
        # What the person has set is for another gateway: this one must not find its way into that one's database.
        outer = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        self._launcher = BoundChild(command, output=self.output, environment=outer | self._variables)
        deadline = time.monotonic() + READY_WITHIN.total_seconds()
        while not self._is_ready():
            if not self._launcher.is_running() or time.monotonic() > deadline:
                self.stop()
                raise Complaint("The gateway did not come up.", last_words(self.output, LAST_LINES))
            time.sleep(LOOK.total_seconds())

    def stop(self, by: signal.Signals = signal.SIGTERM) -> None:
        """Go down in order, as Ctrl-C does it."""
        if self._launcher is not None and self._launcher.is_running():
            self._launcher.stop(within=STOPS_WITHIN, by=by)

    def record(self) -> RunRecord:
        """What runs now."""
        record = self.home.read_record()
        if record is None:
            raise Complaint(f"Nothing runs in {self.home.root}.", last_words(self.output, LAST_LINES))
        return record

    def access(self, settings: CliSettings | None = None) -> Access:
        """The gateway, as a user of its development issuer."""
        settings = settings or CliSettings(url=None)
        return Access(
            url=self.record().url,
            credentials=local_credentials(self.home, settings),
            resumable_above=settings.resumable_above,
        )

    def _is_ready(self) -> bool:
        record = self.home.read_record()
        return record is not None and record.pid == self.launcher.pid and record.ready_at is not None
