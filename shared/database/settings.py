"""Where the database is and how long it is waited for."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from shared.telemetry.durations import PositiveDuration

SQLITE = "sqlite"
POSTGRES = "postgresql"
POSTGRES_DRIVER = "postgresql+psycopg"
LONGEST_SERVER_WAIT = timedelta(seconds=5)
"""A session that waits longer would hold its locks longer than anybody waits for them."""


def _refuse_unknown_url(url: SecretStr) -> SecretStr:
    parse_url(url.get_secret_value())
    return url


ServerWait = Annotated[PositiveDuration, Field(le=LONGEST_SERVER_WAIT)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_refuse_unknown_url)]


class DatabaseSettings(BaseSettings):
    """Read from ``KNOWGATE_DATABASE_*``. Durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_DATABASE_", frozen=True, extra="forbid")

    url: DatabaseUrl = SecretStr("sqlite:///knowgate.db")
    """``sqlite:///path`` or ``postgresql://user:password@host/name``."""
    readers: int = Field(default=4, ge=1, le=64)
    """Threads, each with a connection of its own, that read beside the writer."""
    writers: int = Field(default=8, ge=1, le=64)
    """PostgreSQL only: threads, each with a connection of its own, that write. SQLite has one writer a process."""
    connect_timeout: PositiveDuration = timedelta(seconds=5)
    lock_timeout: ServerWait = timedelta(seconds=5)
    """How long a writer waits for its turn, and for a row that another one has locked."""
    statement_timeout: ServerWait = timedelta(seconds=5)
    idle_timeout: ServerWait = timedelta(seconds=5)
    """How long PostgreSQL lets a session rest inside a transaction."""
    durability: Literal["NORMAL", "FULL"] = "NORMAL"
    """SQLite only: NORMAL may lose the last commits in a power cut, never in a crash; FULL loses none."""

    @property
    def address(self) -> URL:
        """The address with the driver that is used."""
        return parse_url(self.url.get_secret_value())


def parse_url(text: str) -> URL:
    """Read an address and name our driver in it; ValueError, which never repeats the address, if it is not one."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise ValueError("must be sqlite:///path or postgresql://host/name") from None
    if url.drivername in {SQLITE, "sqlite+pysqlite"}:
        if url.database in {None, "", ":memory:"}:
            raise ValueError("must name a file: several processes share the database")
        return url.set(drivername=SQLITE)
    if url.drivername in {POSTGRES, POSTGRES_DRIVER, "postgres"}:
        return url.set(drivername=POSTGRES_DRIVER)
    raise ValueError("must begin with sqlite:/// or postgresql://")
