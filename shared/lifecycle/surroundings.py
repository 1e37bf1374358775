"""What a move of state takes from outside: the time, ids, chance and settings. Nothing here is read at import."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.work import Moment
from shared.lifecycle.settings import PipelineSettings
from shared.telemetry.stamps import Clock, NewId, new_id, utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Everything that would make a move depend on when and where it runs."""

    settings: PipelineSettings = field(default_factory=PipelineSettings)
    clock: Clock = utc_now
    new_id: NewId = new_id
    chance: Callable[[], float] = random.random
    """A figure in [0, 1) that spreads retries."""

    def moment(self, now: datetime) -> Moment:
        """What a decision may know."""
        return Moment(now=now, jitter=self.chance(), rules=self.settings.rules())
