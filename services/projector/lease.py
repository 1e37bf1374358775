"""Who the active projector is: takes the lease, renews it, and says when it is lost.

Everything that the holder does in the database happens under `guard`, which compares the epoch in the
same transaction; so a holder that was overtaken can write nothing, however late it notices.
"""

import asyncio
from datetime import timedelta

import structlog
from sqlalchemy import Connection

from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.leases import hold_lease, release_lease, renew_lease, take_lease
from shared.domain.errors import StoreUnavailable

LEASE_NAME = "projector"

log = structlog.get_logger()


class Lease:
    """One holder's side of the lease."""

    def __init__(self, database: Database, holder: str, *, ttl: timedelta, renewal: timedelta) -> None:
        self._database = database
        self._holder = holder
        self._ttl = ttl
        self._renewal = renewal
        self._epoch = 0

    def guard(self, conn: Connection) -> None:
        """Join the transaction; LeaseLost when another holder has taken over."""
        try:
            hold_lease(conn, LEASE_NAME, self._epoch)
        except LeaseLost:
            log.warning("projector.lease.lost", epoch=self._epoch)
            raise

    async def take(self, *, at_once: bool) -> None:
        """Wait until the lease is ours. `at_once`: the predecessor is known to be dead."""

        def take(conn: Connection) -> int | None:
            return take_lease(conn, LEASE_NAME, self._holder, self._ttl, steal=at_once)

        while True:
            try:
                epoch = await self._database.write(take)
            except StoreUnavailable:
                epoch = None
            if epoch is not None:
                self._epoch = epoch
                log.info("projector.lease.taken", holder=self._holder, epoch=epoch)
                return
            await asyncio.sleep(self._renewal.total_seconds())

    async def keep(self) -> None:
        """Renew until it is lost, and raise LeaseLost then. While the database is away nobody can tell."""
        while True:
            await asyncio.sleep(self._renewal.total_seconds())
            try:
                kept = await self._database.write(
                    lambda conn: renew_lease(conn, LEASE_NAME, self._holder, self._epoch, self._ttl)
                )
            except StoreUnavailable as error:
                log.warning("projector.lease.not_renewed", error=error.message)
                continue
            if not kept:
                log.warning("projector.lease.lost", epoch=self._epoch)
                raise LeaseLost

    async def give_up(self) -> None:
        """Let a successor take over at once."""
        await self._database.write(lambda conn: release_lease(conn, LEASE_NAME, self._holder, self._epoch))
