"""Settings of the limits of one tenant."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class LimitSettings(BaseSettings):
    """`KNOWGATE_LIMIT_*`."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_LIMIT_", frozen=True)

    requests_per_second: int = Field(default=500, ge=0)
    """Requests of one tenant that an api process answers in a second, in the long run; 0: as many as come."""
    burst: int = Field(default=1000, ge=1)
    """Requests of one tenant that may come at once after a quiet time."""
    queued: int = Field(default=50_000, ge=0)
    """Operations of one tenant that may be unfinished at once, in all processes together; 0: as many as come."""
