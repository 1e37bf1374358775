"""Where the play takes place: gateways that are started, turned and broken. Only this module knows the product."""

import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import timedelta
from json import dumps
from pathlib import Path
from socket import socket
from typing import Final

from services.cli.stack import Stack
from shared.messaging.bound_child import BoundChild
from tests.conformance.answers import Json
from tests.conformance.identity import Issuer

SMALL_PAGE: Final = 20
LARGE_PAGE: Final = 100
LARGEST_FILE: Final = 2_000_000
LOOPBACK: Final = "127.0.0.1"
EVERY_FILE: Final = "*"
BROKER: Final = "nats"
ENDS_WITHIN: Final = timedelta(seconds=30)

USUAL: Final = {
    "KNOWGATE_FILES_MAX_BYTES": str(LARGEST_FILE),
    "KNOWGATE_PIPELINE_RETRY_FIRST_WAIT": "0.02",
    "KNOWGATE_NATS_ACK_WAIT": "5",
}
SCRIPTED: Final = {
    "KNOWGATE_PROVIDER_KIND": "scripted",
    "KNOWGATE_LIST_MAX_ITEMS": str(SMALL_PAGE),
}
NARROW: Final = {
    "KNOWGATE_LIMIT_REQUESTS_PER_SECOND": "5",
    "KNOWGATE_LIMIT_BURST": "30",
    "KNOWGATE_LIMIT_QUEUED": "3",
    "KNOWGATE_ACCEPT_WITHOUT_BROKER": "0.05",
    "KNOWGATE_DATABASE_LOCK_TIMEOUT": "1.5",
}
"""What the second api process is set to beside; a tenant that asks for little notices nothing of it."""


class Running:
    """A gateway that is up."""

    def __init__(
        self, stack: Stack, issuer: Issuer, most_items: int, ends: ExitStack, script: Path | None = None
    ) -> None:
        """`script`: where a scripted provider reads how to behave. `ends` ends what is started beside the gateway."""
        self._stack = stack
        self._ends = ends
        self._second: str | None = None
        self._script = script
        self.issuer = issuer
        self.most_items = most_items

    @property
    def url(self) -> str:
        """Where it is."""
        return self._stack.record().url

    def tell(self, file_name: str, **script: Json) -> None:
        """Have the provider behave in some way for files of a name, from now on."""
        if self._script is None:
            raise ValueError("this gateway's provider takes no script")
        with closing(sqlite3.connect(self._script, timeout=10, isolation_level=None)) as provider:
            provider.execute("INSERT OR REPLACE INTO script VALUES (?, ?)", (file_name, dumps(script)))

    def pid(self, name: str) -> int:
        """The process number of a part."""
        return self._stack.record().children[name]

    def kill(self, name: str) -> None:
        """Kill a part as a fault would; it is started again."""
        os.kill(self.pid(name), signal.SIGKILL)

    @contextmanager
    def without_broker(self) -> Iterator[None]:
        """Take the broker away, and keep the launcher from starting it again."""
        launcher = self._stack.launcher.pid
        os.kill(launcher, signal.SIGSTOP)
        try:
            self.kill(BROKER)
            yield
        finally:
            os.kill(launcher, signal.SIGCONT)

    @contextmanager
    def taken_database(self) -> Iterator[None]:
        """Hold the database as a writer that takes too long."""
        with closing(sqlite3.connect(self._stack.home.database, timeout=10, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            yield
            database.execute("ROLLBACK")

    def second_api(self) -> str:
        """The address of another api process beside the first, on the same database and broker, with tighter limits.

        It is started when it is first asked for, and may need a moment until it answers.
        """
        if self._second is None:
            port = _free_port()
            log = self._stack.home.logs / "second-api.log"
            variables = {**_environment_of(self.pid("api")), "KNOWGATE_API_PORT": str(port), **NARROW}
            command = [sys.executable, "-P", "-m", "services.api.main"]
            child = BoundChild(command, output=log, environment=variables)
            self._ends.callback(child.stop, within=ENDS_WITHIN)
            self._second = f"http://{LOOPBACK}:{port}"
        return self._second


Stage = Callable[[Path, Issuer], AbstractContextManager[Running]]
"""Starts a gateway in a home of its own that believes the issuer, and ends it afterwards."""


@contextmanager
def embedded(home: Path, issuer: Issuer) -> Iterator[Running]:
    """A gateway as it comes, with its own search engine."""
    with Stack(home, variables={**USUAL, **issuer.settings()}) as stack, ExitStack() as ends:
        yield Running(stack, issuer, LARGE_PAGE, ends)


@contextmanager
def scripted(home: Path, issuer: Issuer) -> Iterator[Running]:
    """A gateway with small pages, whose provider does as it is told."""
    home.mkdir(parents=True, exist_ok=True)
    script = home / "script.sqlite"
    variables = {**USUAL, **SCRIPTED, **issuer.settings(), "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(script)}
    with Stack(home, variables=variables) as stack, ExitStack() as ends:
        yield Running(stack, issuer, SMALL_PAGE, ends, script)


def _environment_of(pid: int) -> Mapping[str, str]:
    entries = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def _free_port() -> int:
    with closing(socket()) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
