"""One caller's stream: reads what has happened piece by piece, and waits for more while the caller may have it."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

import structlog

from services.api.events.views import KEEP_ALIVE, opening, sent_event
from shared.contracts.ids import TenantId
from shared.database.transitions import Transition
from shared.domain.errors import Forbidden, Transient, Unauthenticated
from shared.domain.identity import Caller

log = structlog.get_logger()

MOST_LINKS: Final = 500
"""Links of the chain looked at in one statement; the transitions among them are held in memory at once."""


class Heads(Protocol):
    """Where a chain ends."""

    @property
    def is_stopping(self) -> bool:
        """Whether nobody may wait any longer."""

    async def beyond(self, tenant: TenantId, seq: int, within: timedelta) -> int:
        """The last place once that lies behind `seq`; `seq` when time is up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """What a stream does every so often."""

    checked: timedelta = timedelta(seconds=5)
    """The caller's standing, while nothing happens; it is also looked at before anything is told."""
    kept_alive: timedelta = timedelta(seconds=15)
    retry: timedelta = timedelta(seconds=2)
    """How long a client should wait before it comes back."""


USUAL_RHYTHM: Final = Rhythm()


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """A stream that ends when its caller is no longer who they were, in a stop, or when the database is away."""

    identify: Callable[[], Awaitable[Caller]]
    """Tells again who calls; Unauthenticated once that is over."""
    read: Callable[[Caller, int, int], Awaitable[Sequence[Transition]]]
    """The transitions that a caller may be told, from behind one place up to another."""
    heads: Heads
    rhythm: Rhythm = USUAL_RHYTHM
    monotonic: Callable[[], float] = time.monotonic

    async def pieces(self, after: int, head: int) -> AsyncGenerator[bytes, None]:
        """Everything behind `after` in a chain that ends at `head`, and then what comes."""
        yield opening(after, self.rhythm.retry)
        try:
            async with aclosing(self._goes_on(after, head)) as pieces:
                async for piece in pieces:
                    yield piece
        except (Unauthenticated, Forbidden):
            return
        except Transient as error:
            log.warning("api.events.broken_off", error=error.message)

    async def _goes_on(self, after: int, head: int) -> AsyncGenerator[bytes, None]:
        quiet_since = self.monotonic()
        while not self.heads.is_stopping:
            caller = await self.identify()
            until = min(after + MOST_LINKS, head)
            told = await self.read(caller, after, until) if until > after else ()
            pieces = [sent_event(transition) for transition in told] or self._sign_of_life(quiet_since)
            for piece in pieces:
                yield piece
            if pieces:
                quiet_since = self.monotonic()
            after = until
            if after == head:
                head = await self.heads.beyond(caller.tenant, after, self._patience(quiet_since))

    def _sign_of_life(self, quiet_since: float) -> list[bytes]:
        is_due = self.monotonic() - quiet_since >= self.rhythm.kept_alive.total_seconds()
        return [KEEP_ALIVE] if is_due else []

    def _patience(self, quiet_since: float) -> timedelta:
        """Until the next check, or until the next sign of life if that is due sooner."""
        silent = timedelta(seconds=self.monotonic() - quiet_since)
        return max(timedelta(0), min(self.rhythm.checked, self.rhythm.kept_alive - silent))
