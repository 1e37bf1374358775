"""What the supervisor runs: a service of ours as a child process, or the message broker."""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from shared.messaging.bound_child import BoundChild
from shared.messaging.local_server import LocalNatsServer

LOGS_KEPT = 5
"""Logs of earlier runs of a child, beside the present one."""


class Unit(Protocol):
    """Something that runs until it is stopped, and can be started again after it has ended."""

    @property
    def name(self) -> str:
        """How people call it: `api`, `worker-2`."""

    @property
    def log(self) -> Path:
        """Where it writes what it does."""

    @property
    def pid(self) -> int:
        """Its process number, the last one if it has ended."""

    def start(self) -> None:
        """Start it; it does not run yet, or has ended."""

    def is_running(self) -> bool:
        """Whether it runs."""

    def ending(self) -> str:
        """How it ended: `code 1`, `signal 9`."""

    def stop(self, within: timedelta) -> None:
        """Ask it to end, and kill it when `within` has passed. Nothing happens when it does not run."""

    def kill(self) -> None:
        """End it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """How a service of ours is started: a module, its settings, where its log goes."""

    name: str
    module: str
    environment: Mapping[str, str]
    log: Path
    keep_open: tuple[int, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """`-P`, because a directory named `services` where the person stands must not take our place."""
        return (sys.executable, "-P", "-m", self.module)


class ServiceUnit:
    """A service as a child process that ends with its launcher."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._child: BoundChild | None = None

    @property
    def name(self) -> str:
        """The service's name."""
        return self._service.name

    @property
    def log(self) -> Path:
        """The log of the present run."""
        return self._service.log

    @property
    def pid(self) -> int:
        """The process number of the present or last run; 0 before the first."""
        return 0 if self._child is None else self._child.pid

    def start(self) -> None:
        """Start a new run with a log of its own."""
        keep_earlier_logs(self.log)
        self._child = BoundChild(
            self._service.command,
            output=self.log,
            environment=self._service.environment,
            keep_open=self._service.keep_open,
        )

    def is_running(self) -> bool:
        """Whether the present run has not ended."""
        return self._child is not None and self._child.is_running()

    def ending(self) -> str:
        """How the last run ended."""
        code = None if self._child is None else self._child.exit_code
        if code is None:
            return "nothing"
        return f"code {code}" if code >= 0 else f"signal {-code}"

    def stop(self, within: timedelta) -> None:
        """SIGTERM, and SIGKILL when `within` has passed."""
        if self._child is not None and self._child.is_running():
            self._child.stop(within=within)

    def kill(self) -> None:
        """SIGKILL."""
        if self._child is not None and self._child.is_running():
            self._child.kill()


class BrokerUnit:
    """The message broker on this machine. It has a deadline of its own for stopping."""

    def __init__(self, server: LocalNatsServer, log: Path) -> None:
        self._server = server
        self._log = log
        self._is_stopping = False

    @property
    def name(self) -> str:
        """The broker's program."""
        return "nats"

    @property
    def log(self) -> Path:
        """The server's own log."""
        return self._log

    @property
    def pid(self) -> int:
        """The server's process number."""
        return self._server.pid

    def start(self) -> None:
        """Start the server on its directory; a later start keeps address and token."""
        self._server.start()

    def is_running(self) -> bool:
        """Whether the server is alive."""
        return self._server.is_running()

    def ending(self) -> str:
        """The server keeps its reasons in its log."""
        return "an error"

    def stop(self, within: timedelta) -> None:
        """Stop the server; it has a deadline of its own."""
        self._is_stopping = True
        self._server.stop()

    def kill(self) -> None:
        """End the server at once; what it has acknowledged is safe."""
        if not self._server.is_running():
            return
        if self._is_stopping:  # the one who stops it also frees its directory
            os.kill(self._server.pid, signal.SIGKILL)
        else:
            self._server.kill()


def keep_earlier_logs(log: Path) -> None:
    """`api.log` becomes `api.1.log`, that one `api.2.log`, and so on; the oldest goes."""
    for number in range(LOGS_KEPT, 0, -1):
        newer = log if number == 1 else log.with_suffix(f".{number - 1}.log")
        if newer.exists():
            newer.replace(log.with_suffix(f".{number}.log"))
