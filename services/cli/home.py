"""The directory that `knowgate up` keeps everything of one machine in: where what lies, who uses it, what runs."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError

from services.cli.complaints import Complaint
from shared.contracts.wire import Maybe, UtcTime, Wire

DEFAULT_HOME = Path(".knowgate")
LOCK_PATIENCE = timedelta(seconds=8)
"""How long the children of a launcher that was killed may take to end."""


class RunRecord(Wire):
    """What runs in a home, for those who look for it. `ready_at` is absent until everything answers."""

    pid: int
    url: str
    started_at: UtcTime
    ready_at: Maybe[UtcTime] = None
    children: dict[str, int]
    """Process numbers by name."""


class AlreadyUp(Complaint):
    """Another launcher, or what a killed one has left, uses the home."""

    def __init__(self, home: Path, record: RunRecord | None) -> None:
        who = "" if record is None else f" by process {record.pid}, at {record.url}"
        super().__init__(
            f"{home} is already up{who}.",
            "Use it as it is, stop it with Ctrl-C where it runs, or choose another directory with --home.",
        )


@dataclass(frozen=True, slots=True)
class Home:
    """Paths inside one home. Nothing is created by asking for a path."""

    root: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.root / "knowgate.sqlite"

    @property
    def objects(self) -> Path:
        """Uploaded files."""
        return self.root / "objects"

    @property
    def index(self) -> Path:
        """What the embedded engine has indexed, one file."""
        return self.root / "index" / "index.sqlite"

    @property
    def broker(self) -> Path:
        """The message broker's store."""
        return self.root / "nats"

    @property
    def keys(self) -> Path:
        """Secrets of this machine."""
        return self.root / "keys"

    @property
    def audit_key(self) -> Path:
        """What the ends of the audit chains are signed with."""
        return self.keys / "audit-checkpoints.pem"

    @property
    def checkpoints(self) -> Path:
        """The signed ends of the audit chains."""
        return self.root / "audit-checkpoints.jsonl"

    @property
    def logs(self) -> Path:
        """The logs of the children."""
        return self.root / "logs"

    @property
    def ingests(self) -> Path:
        """What `knowgate ingest` remembers of the files it has sent, by space."""
        return self.root / "ingest"

    @property
    def record_file(self) -> Path:
        """The record of what runs."""
        return self.root / "run.json"

    def create(self) -> None:
        """Make the directories, for the owner alone."""
        for directory in (self.root, self.objects, self.index.parent, self.broker, self.keys, self.logs):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def read_record(self) -> RunRecord | None:
        """What runs, as its launcher has written it; None when nothing does, or nothing readable is there."""
        try:
            return RunRecord.model_validate_json(self.record_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def write_record(self, record: RunRecord) -> None:
        """Tell what runs; readers see the old record or the new one."""
        draft = self.record_file.with_suffix(".draft")
        draft.write_bytes(record.to_json())
        draft.replace(self.record_file)

    def remove_record(self) -> None:
        """Nothing runs any more."""
        self.record_file.unlink(missing_ok=True)

    def is_up(self) -> bool:
        """Whether somebody holds the home."""
        path = self.root / "up.lock"
        if not path.exists():
            return False
        with path.open("rb") as file:
            return not _try_lock(file.fileno())

    @contextmanager
    def held(self) -> Iterator[int]:
        """Hold the home as the only launcher; yields the descriptor of the lock, for the children to keep open.

        They hold it with the launcher, so that a new one never meets children of a launcher that was killed.
        """
        path = self.root / "up.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            deadline = time.monotonic() + LOCK_PATIENCE.total_seconds()
            while not _try_lock(descriptor):
                record = self.read_record()
                if time.monotonic() > deadline or (record is not None and _is_alive(record.pid)):
                    raise AlreadyUp(self.root, record)
                time.sleep(0.1)
            yield descriptor
        finally:
            os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
