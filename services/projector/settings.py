"""Settings of the projector process."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ProjectorSettings(BaseSettings):
    """`KNOWGATE_PROJECTOR_*`: durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_PROJECTOR_", frozen=True)

    sole: bool = False
    """The launcher saw the predecessor die: take its lease at once instead of waiting for it to run out."""
    lease_ttl: timedelta = Field(default=timedelta(seconds=2), gt=timedelta(0))
    lease_renewal: timedelta = Field(default=timedelta(milliseconds=500), gt=timedelta(0))
    batch_size: int = Field(default=200, ge=1, le=1000)
    """Events applied in one transaction at most."""
    window: int = Field(default=8, ge=1)
    """Unanswered commands per step in the stream when no worker has announced its slots."""
    dispatch_interval: timedelta = Field(default=timedelta(milliseconds=250), gt=timedelta(0))
    """How long due work may wait for a look when nothing wakes the dispatcher."""
    recovery_interval: timedelta = Field(default=timedelta(seconds=2), gt=timedelta(0))
    """Between two looks for commands whose message is gone."""
    housekeeping_interval: timedelta = Field(default=timedelta(seconds=30), gt=timedelta(0))
    inbox_kept: timedelta = Field(default=timedelta(days=35), gt=timedelta(0))
    """Longer than the events stream keeps its events."""
