"""A PostgreSQL server of the tests' own, on this machine, with databases made on request."""

import shutil
import signal
import socket
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg import sql

from shared.messaging.bound_child import BoundChild
from tests.support.postgres_programs import PostgresPrograms, PostgresUnusable, find_programs, give, installed_package

START_DEADLINE = timedelta(seconds=30)
STOP_DEADLINE = timedelta(seconds=10)
POLL = timedelta(milliseconds=20)
USER = "postgres"

# Nothing here has to survive a power cut. A commit still reaches the operating system before it is
# acknowledged, so that killing the server loses nothing, as in production.
CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
port = {port}
fsync = off
full_page_writes = off
max_connections = 200
shared_buffers = '64MB'
max_wal_size = '256MB'
log_min_messages = warning
"""


class LocalPostgres:
    """One server with its own scratch folder; killed and started again, it keeps its port and its databases."""

    def __init__(self) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="knowgate-postgres-"))
        self._programs: PostgresPrograms | None = None
        self._child: BoundChild | None = None
        self._port = 0

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def is_running(self) -> bool:
        """Whether the server is alive."""
        return self._child is not None and self._child.is_running()

    def start(self) -> None:
        """Start the server and return when it takes connections.

        Killed, it leaves workers behind that refuse a successor for a moment, so a start is tried until time is up.
        """
        if self.is_running():
            return
        programs = self._programs or self._initialise()
        deadline = time.monotonic() + START_DEADLINE.total_seconds()
        while not self._comes_up(programs, deadline):
            if time.monotonic() > deadline:
                raise PostgresUnusable(f"PostgreSQL did not start:\n{self._log.read_text(errors='replace')}")

    def stop(self) -> None:
        """Stop the server and close its connections; its databases stay."""
        if self._child is not None:
            self._child.stop(within=STOP_DEADLINE, by=signal.SIGINT)

    def kill(self) -> None:
        """End the server as a crash would."""
        if self._child is not None:
            self._child.kill()

    def restart(self) -> None:
        """Stop the server and start it again on the same port."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and remove everything it wrote."""
        self.stop()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def create_database(self, name: str, *, template: str = "template1") -> str:
        """Create a database, as a copy of `template` if one is named; returns its SQLAlchemy URL."""
        self._execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)),
        )
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def url(self, name: str) -> str:
        """The SQLAlchemy URL of a database."""
        return f"postgresql+psycopg://{USER}@127.0.0.1:{self._port}/{name}"

    @property
    def _log(self) -> Path:
        return self._scratch / "postgres.log"

    @property
    def _cluster(self) -> Path:
        return self._scratch / "cluster"

    def _initialise(self) -> PostgresPrograms:
        """Make the cluster. Its locale is PostgreSQL's own, so that no test depends on the machine's."""
        self._programs = programs = find_programs(installed_package(), self._scratch)
        if programs.account is not None:
            give(self._scratch, programs.account)
        programs.run(
            "initdb",
            f"--pgdata={self._cluster}",
            f"--username={USER}",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-sync",
            "--no-instructions",
        )
        self._port = _free_port()
        with (self._cluster / "postgresql.conf").open("a") as configuration:
            configuration.write(CONFIGURATION.format(port=self._port))
        return programs

    def _comes_up(self, programs: PostgresPrograms, deadline: float) -> bool:
        """Start the program once; False when it has ended again."""
        child = self._child = BoundChild(
            [str(programs.folder / "postgres"), "-D", str(self._cluster)],
            output=self._log,
            death_signal=signal.SIGQUIT,
            account=programs.account,
            directory=Path("/"),
        )
        while child.is_running() and time.monotonic() < deadline:
            try:
                self._execute(sql.SQL("SELECT 1"))
            except psycopg.OperationalError:
                time.sleep(POLL.total_seconds())
            else:
                return True
        child.kill()
        return False

    def _execute(self, statement: sql.SQL | sql.Composed) -> None:
        with psycopg.connect(
            host="127.0.0.1", port=self._port, user=USER, dbname="postgres", autocommit=True, connect_timeout=5
        ) as connection:
            connection.execute(statement)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
