"""How much work of a tenant may wait and run at once, in all processes together."""

from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from services.api.broker.room import MonotonicClock
from shared.contracts.ids import TenantId
from shared.contracts.route import Route
from shared.contracts.routes import (
    DOCUMENT_REINDEX,
    DOCUMENT_REPLACE,
    DOCUMENT_UPLOAD,
    OPERATION_RETRY,
    SPACE_CREATE,
)
from shared.database.operations import count_unfinished_of_tenant, take_tenants_turn
from shared.domain.errors import LimitReached

TENANT_QUEUE: Final = "tenant_queue"
WORTH_TRYING_AFTER: Final = timedelta(seconds=5)

QUEUED: Final = frozenset({SPACE_CREATE, DOCUMENT_UPLOAD, DOCUMENT_REPLACE, DOCUMENT_REINDEX, OPERATION_RETRY})
"""What a full queue refuses. A cancellation and a delete make room, so they are always taken on, and what is done when
it is answered never waits."""

GOOD_FOR: Final = timedelta(milliseconds=500)
"""How long a count is believed."""
MOST_MEANWHILE: Final = 1000
"""More than all processes together accept in that time, and more than are being accepted at any moment."""
SWEPT_FROM: Final = 1024


class QueueFull(LimitReached):
    """A tenant has as much unfinished work as it may have."""

    message = "Your tenant has as many unfinished operations as it may have. Wait for some to end, or cancel them."

    def __init__(self) -> None:
        super().__init__(TENANT_QUEUE, retry_after=WORTH_TRYING_AFTER)


class QueueLimit:
    """The unfinished operations of each tenant.

    Counting many thousands costs milliseconds, which all who write would wait for. So far from the limit a count is
    believed for a while, and so is one that was over a large limit. Near the limit, or when it is a small one, every
    acceptance counts, and acceptances of one tenant take turns, so that the limit is kept exactly.
    """

    def __init__(self, most: int, monotonic: MonotonicClock) -> None:
        """`most` 0: no limit."""
        self._most = most
        self._monotonic = monotonic
        self._counts: dict[TenantId, tuple[int, float]] = {}

    def require(self, conn: Connection, tenant: TenantId, route: Route) -> None:
        """QueueFull when the tenant has too much; to be asked in the transaction that has just added to it."""
        if self._most == 0 or route not in QUEUED or self._is_surely_free(conn, tenant):
            return
        take_tenants_turn(conn, tenant)
        if self._count(conn, tenant) > self._most:
            raise QueueFull

    def _is_surely_free(self, conn: Connection, tenant: TenantId) -> bool:
        """Whether there is room whatever others accept meanwhile; QueueFull when a believed count tells of none."""
        if self._most <= MOST_MEANWHILE:
            return False
        counted, until = self._counts.get(tenant, (0, float("-inf")))
        if self._monotonic() > until:
            counted = self._count(conn, tenant)
        elif counted > self._most:
            raise QueueFull
        return counted + MOST_MEANWHILE <= self._most

    def _count(self, conn: Connection, tenant: TenantId) -> int:
        counted = count_unfinished_of_tenant(conn, tenant, at_most=self._most + 1)
        now = self._monotonic()
        if len(self._counts) >= SWEPT_FROM:
            self._counts = {known: held for known, held in self._counts.items() if held[1] >= now}
        self._counts[tenant] = counted, now + GOOD_FOR.total_seconds()
        return counted
