"""How fast a tenant may ask: a bucket of tokens for each, refilled all the time, one taken by every request."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from services.api.broker.room import MonotonicClock
from shared.contracts.ids import TenantId
from shared.domain.errors import LimitReached

TENANT_RATE: Final = "tenant_rate"
SWEPT_FROM: Final = 1024
"""So many buckets are kept before the full ones are looked for."""


class RateExceeded(LimitReached):
    """A tenant asks more often than it may."""

    message = "Your tenant sends more requests in a second than it may. Send fewer, or wait as long as is asked."

    def __init__(self, wait: timedelta) -> None:
        super().__init__(TENANT_RATE, retry_after=wait)


@dataclass(slots=True)
class _Bucket:
    """What was taken from it and not refilled by `at`."""

    taken: float
    at: float


class RateLimit:
    """The requests of each tenant to this process. A bucket that is full again is forgotten."""

    def __init__(self, per_second: int, burst: int, monotonic: MonotonicClock) -> None:
        """`per_second` 0: no limit."""
        self._per_second = per_second
        self._burst = burst
        self._monotonic = monotonic
        self._buckets: dict[TenantId, _Bucket] = {}
        self._swept_at_size = SWEPT_FROM

    @property
    def tenants(self) -> int:
        """How many tenants are remembered."""
        return len(self._buckets)

    def take(self, tenant: TenantId) -> None:
        """Take a request of the tenant; RateExceeded, which takes nothing, when it has to wait for one."""
        if self._per_second == 0:
            return
        now = self._monotonic()
        bucket = self._buckets.get(tenant)
        if bucket is None:
            bucket = self._new(tenant, now)
        taken = self._left_over(bucket, now)
        if taken + 1 > self._burst:
            raise RateExceeded(timedelta(seconds=(taken + 1 - self._burst) / self._per_second))
        bucket.taken, bucket.at = taken + 1, now

    def _new(self, tenant: TenantId, now: float) -> _Bucket:
        if len(self._buckets) >= self._swept_at_size:
            self._buckets = {known: held for known, held in self._buckets.items() if self._left_over(held, now) > 0}
            self._swept_at_size = max(SWEPT_FROM, 2 * len(self._buckets))
        return self._buckets.setdefault(tenant, _Bucket(taken=0, at=now))

    def _left_over(self, bucket: _Bucket, now: float) -> float:
        """What was taken and is not refilled yet."""
        return max(0.0, bucket.taken - (now - bucket.at) * self._per_second)
