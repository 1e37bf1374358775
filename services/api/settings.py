"""Settings of the HTTP process."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.contracts.enums import Action
from shared.contracts.paging import MAX_PAGE_SIZE
from shared.contracts.retrieval import LOOPBACK_HOSTS, DownloadUrl
from shared.domain.authorization import DEFAULT_ROLES
from shared.telemetry.durations import Duration, PositiveDuration


def _without_slash(url: str) -> str:
    return url.rstrip("/")


class ApiSettings(BaseSettings):
    """`KNOWGATE_*`; durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_", frozen=True, extra="ignore")

    api_host: str = Field(default="127.0.0.1", min_length=1)
    """Where to listen. Development credentials are refused unless only this machine can reach it."""
    api_port: int = Field(default=8080, ge=1, le=65535)
    public_url: Annotated[DownloadUrl, AfterValidator(_without_slash)] | None = None
    """Where clients reach this API from outside: https, or http on this machine. Download links begin with it."""
    list_max_items: int = Field(default=MAX_PAGE_SIZE, ge=1, le=MAX_PAGE_SIZE)
    """The largest page of a list; 20 for the agents' plugin, whose schema takes no more although it may ask for 100."""
    accept_without_broker: Duration = timedelta(seconds=60)
    """How long new work is taken on while the broker is away."""
    roles: dict[str, frozenset[Action]] = Field(default_factory=lambda: dict(DEFAULT_ROLES))
    """The actions that each role allows, as JSON."""
    most_waiters: int = Field(default=1000, ge=0)
    """Requests of a process that may wait for an operation's end at once; beyond that they are answered at once."""
    most_streams: int = Field(default=200, ge=0)
    """Event streams that a process keeps open at once."""
    most_streams_of_tenant: int = Field(default=50, ge=0)
    """How many of them one tenant may have; 0 for as many as there are."""
    stop_within: Annotated[PositiveDuration, Field(ge=timedelta(seconds=1))] = timedelta(seconds=15)
    """How long a graceful stop waits for requests that are under way."""

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        if self.public_url is None and self.api_host.strip("[]") not in LOOPBACK_HOSTS:
            raise ValueError("KNOWGATE_PUBLIC_URL is needed when the API listens on a network")
        return self

    @property
    def address(self) -> str:
        """What download links begin with."""
        host = f"[{self.api_host}]" if ":" in self.api_host and "[" not in self.api_host else self.api_host
        return self.public_url or f"http://{host}:{self.api_port}"
