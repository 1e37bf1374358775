"""The limits of this process, as the application is given them."""

from dataclasses import dataclass
from typing import Self

from services.api.broker.room import MonotonicClock
from services.api.events.places import Places
from services.api.limits.queue import QueueLimit
from services.api.limits.rate import RateLimit
from services.api.limits.settings import LimitSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is asked before a tenant is served."""

    rate: RateLimit
    queue: QueueLimit
    streams: Places

    @classmethod
    def of(cls, settings: LimitSettings, monotonic: MonotonicClock, streams: Places) -> Self:
        """The limits that the settings name, and the places for streams."""
        return cls(
            rate=RateLimit(settings.requests_per_second, settings.burst, monotonic),
            queue=QueueLimit(settings.queued, monotonic),
            streams=streams,
        )
