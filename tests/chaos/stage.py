"""The whole gateway of a run as processes of its own, and PostgreSQL beside it; each can be hit by its number."""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from services.cli.stack import Stack
from tests.chaos.provider import ProviderSide
from tests.support.postgres import LocalPostgres

DATABASE: Final = "chaos"
POSTGRES: Final = "postgres"
NATS: Final = "nats"
SIZES: Final = {"workers": 2, "projectors": 2}

SETTINGS: Final = {
    "KNOWGATE_NATS_ACK_WAIT": "4",
    "KNOWGATE_NATS_DUPLICATE_WINDOW": "15",
    "KNOWGATE_ACCEPT_WITHOUT_BROKER": "5",
    "KNOWGATE_PIPELINE_RETRY_FIRST_WAIT": "0.2",
    "KNOWGATE_PIPELINE_RETRY_LONGEST_WAIT": "3",
    "KNOWGATE_PIPELINE_RETIRED_GRACE": "3",
    "KNOWGATE_PIPELINE_UPLOAD_DEADLINE": "30",
    "KNOWGATE_PIPELINE_INGEST_DEADLINE": "60",
    "KNOWGATE_PIPELINE_OTHER_DEADLINE": "15",
    "KNOWGATE_PIPELINE_CANCEL_DEADLINE": "20",
    "KNOWGATE_PROJECTOR_HOUSEKEEPING_INTERVAL": "2",
    "KNOWGATE_PROJECTOR_RECOVERY_INTERVAL": "1",
    "KNOWGATE_WORKER_STOP_PATIENCE": "5",
    "KNOWGATE_WORKER_VERIFY_WITHIN": "2",
    "KNOWGATE_WORKER_WATCHDOG_PATIENCE": "10",
}
"""Waits short enough that what they are for happens within a minute."""


class Stage:
    """A gateway that is up."""

    def __init__(self, stack: Stack, postgres: LocalPostgres, provider: ProviderSide) -> None:
        self.stack = stack
        self.postgres = postgres
        self.provider = provider

    @property
    def url(self) -> str:
        """The database, for psycopg."""
        return self.postgres.url(DATABASE).replace("+psycopg", "")

    @property
    def parts(self) -> Mapping[str, int]:
        """The process numbers of all parts that run now and that may be hit by a signal."""
        launcher = self.stack.launcher.pid
        children = self.stack.record().children
        return {name: pid for name, pid in children.items() if _parent(pid) == launcher}

    def signal(self, pid: int, number: signal.Signals) -> bool:
        """Send a signal to a child of the gateway's launcher; False when it is none any more."""
        if _parent(pid) != self.stack.launcher.pid:
            return False
        os.kill(pid, number)
        return True

    def broker_url(self) -> str:
        """The broker's address, as the launcher has told it to a child."""
        variables = Path(f"/proc/{self.parts['api']}/environ").read_text().split("\0")
        return dict(variable.split("=", 1) for variable in variables if variable)["KNOWGATE_NATS_URL"]


@contextmanager
def set_up(home: Path, provider: ProviderSide) -> Iterator[Stage]:
    """A gateway in a home of its own; PostgreSQL outlives it until the end of the context."""
    with LocalPostgres() as postgres:
        _keep_times_of_commits(postgres)
        variables = {
            **SETTINGS,
            **provider.prepare(),
            "KNOWGATE_DATABASE_URL": postgres.create_database(DATABASE),
        }
        with Stack(home, **SIZES, variables=variables) as stack:
            yield Stage(stack, postgres, provider)


def _keep_times_of_commits(postgres: LocalPostgres) -> None:
    """When a row came to be seen is not when its transaction began; the server can tell."""
    with psycopg.connect(postgres.url("postgres").replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET track_commit_timestamp = 'on'")
    postgres.restart()


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
