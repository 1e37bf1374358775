"""Settings of the object store and of uploads."""

from datetime import timedelta

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.telemetry.durations import PositiveDuration

GIB = 1024**3


class FilesSettings(BaseSettings):
    """`KNOWGATE_FILES_*`: durations are seconds or ISO 8601, sizes are bytes."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_FILES_", frozen=True)

    url: str = Field(min_length=1)
    """Where objects are kept: `file:///a/directory`, `s3://bucket/prefix`, `gs://...`, `az://...` or `memory:///`."""
    options: dict[str, SecretStr] = Field(default_factory=dict)
    """What the store needs beside its URL, by obstore's names: `endpoint`, `access_key_id`, `secret_access_key`."""
    max_bytes: int = Field(default=2 * GIB, gt=0)
    """The largest file that an upload may bring."""
    resource_ttl: PositiveDuration = timedelta(hours=24)
    """How long an uploaded file waits for a document to take it."""
    upload_ttl: PositiveDuration = timedelta(hours=24)
    """How long a resumable upload that is not whole waits for its next bytes."""
    sweep_interval: PositiveDuration = timedelta(seconds=60)
    """Between two looks for resumable uploads that are over."""
