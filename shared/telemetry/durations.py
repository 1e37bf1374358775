"""How durations are written in settings: as seconds (``30``, ``0.5``) or as ISO 8601 (``PT30S``, ``P1D``)."""

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field


def _seconds(written: object) -> object:
    """Environment variables are text, and pydantic takes only numbers for seconds."""
    if isinstance(written, str):
        try:
            return float(written)
        except ValueError:
            return written
    return written


Duration = Annotated[timedelta, BeforeValidator(_seconds), Field(ge=timedelta(0))]
"""A duration that may be nothing."""

PositiveDuration = Annotated[timedelta, BeforeValidator(_seconds), Field(gt=timedelta(0))]
"""A duration that is longer than nothing."""
