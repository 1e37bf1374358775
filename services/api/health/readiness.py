"""Whether every part that the process needs works."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog

from services.api.broker.room import MonotonicClock

log = structlog.get_logger()

PATIENCE: Final = timedelta(seconds=2)
TRUE_FOR: Final = timedelta(seconds=1)
"""However often it is asked, every part is looked at no more often than this."""

Check = Callable[[], Awaitable[object]]
"""Raises unless the part works."""


@dataclass(slots=True)
class Readiness:
    """Looks at every part the process needs, all at once."""

    checks: Mapping[str, Check]
    monotonic: MonotonicClock
    _seen: Mapping[str, bool] = field(default_factory=dict)
    _seen_at: float = float("-inf")
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look(self) -> Mapping[str, bool]:
        """Each part and whether it works."""
        async with self._turn:
            if self.monotonic() - self._seen_at > TRUE_FOR.total_seconds():
                works = await asyncio.gather(*(self._works(name, check) for name, check in self.checks.items()))
                self._seen = dict(zip(self.checks, works, strict=True))
                self._seen_at = self.monotonic()
            return self._seen

    async def _works(self, name: str, check: Check) -> bool:
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await check()
        except Exception as error:  # noqa: BLE001 - whatever it was, the part does not work
            log.warning("api.part.failed", part=name, error=repr(error))
            return False
        return True
