"""Settings of the pipeline's rules: waits, grace, deadlines, and how long answers and files are kept."""

from datetime import timedelta

from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.contracts.enums import Step
from shared.domain.retry import RetryPolicy
from shared.domain.work import Rules
from shared.telemetry.durations import Duration, PositiveDuration


class PipelineSettings(BaseSettings):
    """`KNOWGATE_PIPELINE_*`: durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_PIPELINE_", frozen=True)

    retry_first_wait: PositiveDuration = timedelta(seconds=2)
    """The wait before the first automatic retry; it doubles from there, with jitter."""
    retry_longest_wait: PositiveDuration = timedelta(minutes=5)
    retired_grace: Duration = timedelta(minutes=1)
    """How long a version that was replaced stays at the provider, for searches that are under way."""
    upload_deadline: PositiveDuration = timedelta(minutes=30)
    ingest_deadline: PositiveDuration = timedelta(hours=6)
    other_deadline: PositiveDuration = timedelta(minutes=5)
    """For provisioning, cancelling and purging."""
    cancel_deadline: PositiveDuration = timedelta(minutes=15)
    """How long it is tried to stop what was cancelled; then the cancel is given up and the work ends by itself.
    Longer than the broker remembers message ids (10 minutes), so that it may be asked for again."""
    overdue_after: PositiveDuration = timedelta(minutes=15)
    """An operation that has not moved for so long is overdue: operators are told of it, with the reason."""
    answers_kept: PositiveDuration = timedelta(days=7)
    """How long the answer to a request with an idempotency key is replayed."""

    def rules(self) -> Rules:
        """The part of the settings that decisions read."""
        retry = RetryPolicy(first_wait=self.retry_first_wait, longest_wait=self.retry_longest_wait)
        return Rules(retry=retry, retired_grace=self.retired_grace, cancel_deadline=self.cancel_deadline)

    def deadline(self, step: Step) -> timedelta:
        """How long a worker may work on a step."""
        if step is Step.UPLOAD:
            return self.upload_deadline
        return self.ingest_deadline if step in {Step.INGEST, Step.REINDEX} else self.other_deadline
