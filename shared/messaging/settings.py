"""How this process reaches NATS, and the figures of delivery that broker and workers must agree on."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.telemetry.durations import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who a process is at the broker: a token, a user with a password, or nobody."""

    token: SecretStr | None = None
    user: str | None = None
    password: SecretStr | None = None


class MessagingSettings(BaseSettings):
    """Read from ``KNOWGATE_NATS_*``. Durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_NATS_", frozen=True, extra="ignore")

    url: SecretStr = SecretStr("nats://127.0.0.1:4222")
    """One address or several with commas between. A secret, because it may hold a token or a password; one of them is
    enough, and counts for all."""
    token: SecretStr | None = None
    connect_timeout: PositiveDuration = timedelta(seconds=2)
    reconnect_wait: PositiveDuration = timedelta(milliseconds=500)
    """Between two attempts to connect; the attempts never end."""
    publish_timeout: PositiveDuration = timedelta(seconds=5)
    """How long a publication waits for the broker's acknowledgement, and as long again for its one repetition."""
    fetch_timeout: Annotated[PositiveDuration, Field(ge=timedelta(milliseconds=100), le=timedelta(seconds=2))] = (
        timedelta(seconds=1)
    )
    """How long one pull waits. It is also how late a pull notices a broker that has restarted."""
    ack_wait: Annotated[PositiveDuration, Field(ge=timedelta(seconds=1))] = timedelta(seconds=30)
    """A command without a heartbeat for so long is delivered again."""
    max_deliver: Annotated[int, Field(ge=8)] = 20
    """A net far above the four deliveries after which a worker answers by itself."""
    replicas: Annotated[int, Field(ge=1, le=5)] = 1
    """Copies of each stream: 3 in a cluster."""
    commands_max_bytes: Annotated[int, Field(ge=1_048_576)] = 1_073_741_824
    """A full command stream refuses new commands; they wait in SQL."""
    duplicate_window: PositiveDuration = timedelta(minutes=10)
    """How long the command stream knows a message id again."""
    events_max_age: PositiveDuration = timedelta(days=30)
    audit_max_age: PositiveDuration = timedelta(days=366)
    deadletters_max_age: PositiveDuration = timedelta(days=366)
    cancelled_max_age: PositiveDuration = timedelta(days=7)

    @property
    def servers(self) -> list[str]:
        """The addresses, one by one, without who we are there."""
        return [f"{scheme}://{place}" for scheme, _, place in self._addresses]

    @property
    def login(self) -> Login:
        """Who we are, for every server alike: those that a cluster names by itself come without it."""
        if self.token is not None:
            return Login(token=self.token)
        name, separator, password = next((given for _, given, _ in self._addresses if given), "").partition(":")
        if separator:
            return Login(user=name, password=SecretStr(password))
        return Login(token=SecretStr(name) if name else None)

    @property
    def _addresses(self) -> list[tuple[str, str, str]]:
        """Of each address its scheme, who we are there if it says so, and the place."""
        found = []
        for address in self.url.get_secret_value().split(","):
            scheme, _, rest = address.strip().rpartition("://")
            who, _, place = rest.rpartition("@")
            found.append((scheme or "nats", who, place))
        return found
