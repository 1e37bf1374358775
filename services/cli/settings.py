"""Settings of the command line: which gateway it talks to, and as whom."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.client.files import RESUMABLE_ABOVE


class CliSettings(BaseSettings):
    """`KNOWGATE_CLI_*`; lists are JSON. Without `url` the gateway is the one that `knowgate up` runs here."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_CLI_", frozen=True)

    url: str | None = None
    """A gateway elsewhere; it needs the three that follow."""
    service_token: SecretStr | None = None
    assertion: SecretStr | None = None
    """A user assertion of the gateway's issuer. It lives ten minutes at most."""
    session_id: str | None = None
    """The session that the assertion was made for."""
    tenant: str = Field(default="local", min_length=1)
    """Who one is at the local gateway, from here on."""
    subject: str = Field(default="developer", min_length=1)
    roles: tuple[str, ...] = ("knowledge-admin", "gateway-admin", "system-operator")
    groups: tuple[str, ...] = ()
    domains: tuple[str, ...] = ("general",)
    """Security domains. New spaces are put into the first one."""
    resumable_above: int = Field(default=RESUMABLE_ABOVE, ge=0)
    """Files of more bytes go up in pieces; a lost connection costs one of them."""
