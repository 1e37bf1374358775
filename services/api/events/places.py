"""How many streams a process keeps open, and how many of them for one tenant."""

from collections import Counter
from datetime import timedelta
from typing import Final

from prometheus_client import Gauge

from shared.contracts.errors import ErrorCode
from shared.contracts.ids import TenantId
from shared.domain.errors import LimitReached

EVENT_STREAMS: Final = "event_streams"
TENANT_EVENT_STREAMS: Final = "tenant_event_streams"
WORTH_TRYING_AFTER: Final = timedelta(seconds=5)


class StreamsTaken(LimitReached):
    """This process has as many open streams as it may have."""

    code = ErrorCode.PROVIDER_UNAVAILABLE
    message = "As many event streams are open as are allowed. Try again later, or look at operations instead."

    def __init__(self) -> None:
        super().__init__(EVENT_STREAMS, retry_after=WORTH_TRYING_AFTER)


class TenantStreamsTaken(LimitReached):
    """A tenant has as many open streams at this process as one may have."""

    message = "As many event streams of your tenant are open as are allowed. Try again later, or close one of them."

    def __init__(self) -> None:
        super().__init__(TENANT_EVENT_STREAMS, retry_after=WORTH_TRYING_AFTER)


class Places:
    """The places for streams. Whoever takes one leaves it."""

    def __init__(self, most: int, most_of_tenant: int, gauge: Gauge) -> None:
        """`most_of_tenant` 0: one tenant may have all."""
        self._most = most
        self._most_of_tenant = most_of_tenant or most
        self._gauge = gauge
        self._taken: Counter[TenantId] = Counter()

    def take(self, tenant: TenantId) -> None:
        """Take a place; TenantStreamsTaken when the tenant has its share, StreamsTaken when there is none."""
        if self._taken.total() >= self._most:
            raise StreamsTaken
        if self._taken[tenant] >= self._most_of_tenant:
            raise TenantStreamsTaken
        self._note(tenant, self._taken[tenant] + 1)

    def leave(self, tenant: TenantId) -> None:
        """Leave a place for somebody else."""
        self._note(tenant, self._taken[tenant] - 1)

    def _note(self, tenant: TenantId, taken: int) -> None:
        self._taken[tenant] = taken
        if not taken:
            del self._taken[tenant]
        self._gauge.set(self._taken.total())
