"""Settings of the worker process."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.contracts.enums import Step
from shared.telemetry.durations import Duration, PositiveDuration

Slots = Annotated[int, Field(ge=0, le=256)]


class WorkerSettings(BaseSettings):
    """`KNOWGATE_WORKER_*`: durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_WORKER_", frozen=True)

    upload_slots: Slots = 4
    """How many uploads this worker works on at once; 0: it takes none. The same goes for the others."""
    ingest_slots: Slots = 4
    """Ingests, and as many reindexes."""
    space_slots: Slots = 2
    """Provisions, and as many removals of spaces."""
    cleanup_slots: Slots = 2
    """Cancels, purges of versions and purges of files, so many of each."""
    stop_within: PositiveDuration = timedelta(seconds=20)
    """How long a graceful stop may take to hand back what is under way."""
    tell_after: Duration = timedelta(milliseconds=100)
    """A step that ends sooner is not told to have begun: its end says as much, and events cost time."""
    first_look: PositiveDuration = timedelta(milliseconds=20)
    """How soon after its start an ingest is looked at for the first time; the looks become rarer from there."""
    look_every: PositiveDuration = timedelta(seconds=1)
    """How often a long ingest is looked at."""
    progress_every: Duration = timedelta(seconds=1)
    """Progress is reported at most so often."""
    verify_within: Duration = timedelta(seconds=10)
    """A provider that says it is done may need so long until its chunks can be counted and read."""
    stop_patience: PositiveDuration = timedelta(seconds=30)
    """How long a provider may take to stop an ingest that is cancelled while it runs here."""
    watchdog_patience: PositiveDuration = timedelta(seconds=20)
    """How long commands may wait for an idle slot before the process ends itself."""

    @property
    def slots(self) -> dict[Step, int]:
        """How many commands of each step are taken at once."""
        return {
            Step.PROVISION: self.space_slots,
            Step.REMOVE: self.space_slots,
            Step.UPLOAD: self.upload_slots,
            Step.INGEST: self.ingest_slots,
            Step.REINDEX: self.ingest_slots,
            Step.CANCEL: self.cleanup_slots,
            Step.PURGE: self.cleanup_slots,
            Step.PURGE_FILE: self.cleanup_slots,
        }
