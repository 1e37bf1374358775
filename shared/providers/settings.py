"""Which provider new spaces live in, and what the scripted one shares. The engines have settings of their own."""

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.contracts.commands import ProviderKind


class ProviderSettings(BaseSettings):
    """`KNOWGATE_PROVIDER_*`."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_PROVIDER_", frozen=True)

    kind: ProviderKind = ProviderKind.EMBEDDED
    """What a new space is made with; it keeps it for life."""
    scripted_path: Path | None = None
    """The file through which processes share the scripted provider; absent keeps it within each."""
