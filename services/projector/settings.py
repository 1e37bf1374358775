"""Settings of the projector process."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.telemetry.durations import PositiveDuration


class ProjectorSettings(BaseSettings):
    """`KNOWGATE_PROJECTOR_*`: durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_PROJECTOR_", frozen=True)

    sole: bool = False
    """The launcher saw the predecessor die: take its lease at once instead of waiting for it to run out."""
    lease_ttl: PositiveDuration = timedelta(seconds=2)
    lease_renewal: PositiveDuration = timedelta(milliseconds=500)
    batch_size: int = Field(default=200, ge=1, le=1000)
    """Events applied in one transaction at most."""
    window: int = Field(default=8, ge=1)
    """Unanswered commands per step in the stream when no worker has announced its slots."""
    tenant_running: int = Field(default=0, ge=0)
    """Commands of one tenant per step that are at the workers at once, so that the rest of the window stays free for
    others; 0: as many as the window holds. With a limit every command waits for the dispatcher's next look."""
    dispatch_interval: PositiveDuration = timedelta(milliseconds=250)
    """How long due work may wait for a look when nothing wakes the dispatcher."""
    recovery_interval: PositiveDuration = timedelta(seconds=2)
    """Between two looks for commands whose message is gone."""
    declare_interval: PositiveDuration = timedelta(seconds=5)
    """Between two looks whether streams and consumers are still there as they should be."""
    housekeeping_interval: PositiveDuration = timedelta(seconds=30)
    inbox_kept: PositiveDuration = timedelta(days=35)
    """Longer than the events stream keeps its events."""
    reconcile_interval: PositiveDuration = timedelta(hours=1)
    """Between two comparisons of all tenants with what provider and object store hold; they repair what they find."""
    reconcile_settled_after: PositiveDuration = timedelta(minutes=5)
    """What has changed less than so long ago is not judged: lists and counts of a provider may lag."""
    reconciliations_kept: PositiveDuration = timedelta(days=30)
    """How long the reports of comparisons that have ended are kept."""
