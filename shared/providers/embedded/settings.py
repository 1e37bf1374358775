"""Settings of the embedded engine: where its index lies, and how much of the machine it may take."""

from datetime import timedelta
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.providers.embedded.limits import MEBIBYTE, DigestLimits
from shared.telemetry.durations import PositiveDuration


class EmbeddedSettings(BaseSettings):
    """`KNOWGATE_EMBEDDED_*`: durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_EMBEDDED_", frozen=True)

    index: Path = Path("knowgate-index.sqlite")
    """The index, one file. Api and workers need it on one local file system, never on a network share."""
    parsers: int = Field(default=2, ge=1, le=64)
    """Child processes of a worker that read files."""
    embedders: int = Field(default=2, ge=1, le=64)
    """Child processes of a worker that embed text, about 150 MB and one core each."""
    parser_memory_mib: int = Field(default=2048, ge=256)
    """Address space that reading one file may take."""
    parser_time: PositiveDuration = timedelta(minutes=5)
    """How long reading one file may take."""
    text_characters: int = Field(default=20_000_000, ge=1)
    """The longest text of one document, in code points."""
    chunks: int = Field(default=50_000, ge=1)
    """The most chunks of one document."""

    def limits(self) -> DigestLimits:
        """What one document may cost."""
        return DigestLimits(
            memory_bytes=self.parser_memory_mib * MEBIBYTE,
            time=self.parser_time,
            text_characters=self.text_characters,
            chunks=self.chunks,
        )
