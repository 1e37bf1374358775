"""How a process tells of itself: log level and form, and where its metrics are served."""

from enum import StrEnum, unique
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


@unique
class LogLevel(StrEnum):
    """From what severity on log events are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@unique
class LogForm(StrEnum):
    """JSON lines for machines, columns for people."""

    JSON = "json"
    CONSOLE = "console"


class TelemetrySettings(BaseSettings):
    """`KNOWGATE_TELEMETRY_*`."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_TELEMETRY_", frozen=True)

    log_level: LogLevel = LogLevel.INFO
    log_form: LogForm = LogForm.JSON
    metrics_host: str = "127.0.0.1"
    metrics_port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Where metrics and health are served; 0 lets the system choose a port, absent serves nothing."""
