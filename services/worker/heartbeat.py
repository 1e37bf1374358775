"""Keeps the broker informed that commands are being worked on, and knows when it may have given them to others.

The broker's clock for a delivery runs from its last heartbeat that arrived there; ours from the moment before we
sent it, so ours never runs behind.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

import structlog

from services.worker.outcomes import Fenced
from shared.domain.errors import StoreUnavailable

log = structlog.get_logger()

BEATS_PER_WAIT = 3
"""A heartbeat at every third of the time after which the broker delivers again."""
TICKS_PER_WAIT = 30
"""How finely the loop notices that it stood still."""
FENCE = 1 / 2
"""The share of that time after which nothing more is written."""


class Beating(Protocol):
    """A delivery, as far as its heartbeat goes."""

    async def in_progress(self) -> None:
        """Tell the broker, by the next flush, that the work goes on."""


class Lease:
    """How sure we are that one delivery is still ours alone."""

    def __init__(
        self, delivery: Beating, held_since: float, *, ack_wait: float, on_lost: Callable[[], None], clock: "Monotonic"
    ) -> None:
        self.delivery = delivery
        self.confirmed_at = held_since
        """Before this moment the broker did not give the delivery to anyone else."""
        self.is_lost = False
        self._ack_wait = ack_wait
        self._on_lost = on_lost
        self._monotonic = clock

    def check(self) -> None:
        """Raise Fenced unless the last heartbeat was confirmed recently; to be called before every write."""
        if self.is_lost or self._monotonic() - self.confirmed_at >= self._ack_wait * FENCE:
            raise Fenced

    def confirm(self, sent_at: float) -> None:
        """A heartbeat sent at that time has arrived. One that came too late changes nothing: the lease is lost."""
        self.expire()
        if not self.is_lost:
            self.confirmed_at = sent_at

    def expire(self) -> None:
        """Lose the lease for good when the broker's time may be up."""
        if not self.is_lost and self._monotonic() - self.confirmed_at >= self._ack_wait:
            self.is_lost = True
            self._on_lost()


Monotonic = Callable[[], float]


class Heartbeat:
    """One loop for all deliveries in hand. `flush` returns when everything sent so far has arrived."""

    def __init__(
        self,
        flush: Callable[[timedelta], Awaitable[None]],
        *,
        ack_wait: timedelta,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        self._flush = flush
        self._ack_wait = ack_wait.total_seconds()
        self._monotonic = monotonic
        self._alive_at = monotonic()
        self._leases: set[Lease] = set()

    @contextmanager
    def hold(self, delivery: Beating, on_lost: Callable[[], None]) -> Iterator[Lease]:
        """Keep a delivery that has just arrived; `on_lost` is called once if it is lost meanwhile.

        The delivery may have waited while the loop stood still, so it counts from when the loop was last known to run.
        """
        lease = Lease(delivery, self._alive_at, ack_wait=self._ack_wait, on_lost=on_lost, clock=self._monotonic)
        self._leases.add(lease)
        try:
            yield lease
        finally:
            self._leases.discard(lease)

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            await self.tick()
            await asyncio.sleep(self._ack_wait / TICKS_PER_WAIT)

    async def tick(self) -> None:
        """Send what is due and learn whether it arrived."""
        now = self._alive_at = self._monotonic()
        due = [lease for lease in self._leases if now - lease.confirmed_at >= self._ack_wait / BEATS_PER_WAIT]
        if due and await self._beat(due):
            for lease in due:
                lease.confirm(now)
        for lease in tuple(self._leases):
            lease.expire()

    async def _beat(self, due: list[Lease]) -> bool:
        try:
            for lease in due:
                await lease.delivery.in_progress()
            await self._flush(timedelta(seconds=self._ack_wait / BEATS_PER_WAIT / 2))
        except StoreUnavailable as error:
            log.warning("worker.heartbeat.unconfirmed", deliveries=len(due), error=error.message)
            return False
        return True
