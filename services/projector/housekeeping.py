"""What falls due by time alone: purges, and all that nobody needs any more, from files to inbox entries."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import Connection

from shared.database.database import Database
from shared.database.files import expired_resources, forget_resources
from shared.database.idempotency import forget_answers
from shared.database.inbox import forget_events
from shared.database.purges import due_purges
from shared.database.reconciliations import forget_reconciliations
from shared.database.revocations import forget_revocations
from shared.domain.errors import Transient
from shared.lifecycle.purges import issue_purges, issue_these, postpone_purge, release_files
from shared.lifecycle.surroundings import Surroundings

PIECE = 100
"""Rows of one kind handled in one transaction: mass work never holds up the rest."""
FORGOTTEN_AT_ONCE = 1000
"""Rows that only have to go are deleted so many in one transaction."""


log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Housekeeping:
    """Runs under the lease, in small transactions."""

    database: Database
    around: Surroundings
    guard: Callable[[Connection], None]
    inbox_kept: timedelta
    reconciliations_kept: timedelta

    async def issue_due_purges(self) -> int:
        """Issue a piece of the purges that are due, or end those with nothing to remove; how many. PIECE: more may be.

        When that fails, each alone: one must not hold up the rest.
        """
        try:
            return await self.database.write(self._issue)
        except Transient:
            raise
        except Exception:
            log.exception("projector.purges.failed")
        due = await self.database.read(lambda conn: due_purges(conn, self.around.clock(), limit=PIECE))
        return sum([await self._issue_alone(purge.id) for purge in due])

    async def _issue_alone(self, purge_id: str) -> int:
        try:
            return await self.database.write(lambda conn: self._issue_one(conn, purge_id))
        except Transient:
            raise
        except Exception:
            log.exception("projector.purge.failed", purge=purge_id)
        await self.database.write(lambda conn: self._postpone(conn, purge_id))
        return 0

    async def sweep(self) -> None:
        """Forget what has expired, and order the deletion of files that nothing names any more."""
        while await self.database.write(self._expire) == PIECE:
            pass
        for forget in (
            self._forget_answers,
            self._forget_events,
            self._forget_revocations,
            self._forget_reconciliations,
        ):
            while await self.database.write(forget) == FORGOTTEN_AT_ONCE:
                pass

    def _issue(self, conn: Connection) -> int:
        self.guard(conn)
        return issue_purges(conn, self.around, limit=PIECE)

    def _issue_one(self, conn: Connection, purge_id: str) -> int:
        self.guard(conn)
        return issue_these(conn, {purge_id}, self.around)

    def _postpone(self, conn: Connection, purge_id: str) -> None:
        self.guard(conn)
        postpone_purge(conn, purge_id, self.around)

    def _expire(self, conn: Connection) -> int:
        self.guard(conn)
        now = self.around.clock()
        expired = expired_resources(conn, now, limit=PIECE)
        forget_resources(conn, [resource.id for resource in expired])
        release_files(conn, {resource.file_id for resource in expired}, self.around, now)
        return len(expired)

    def _forget_answers(self, conn: Connection) -> int:
        self.guard(conn)
        return forget_answers(conn, before=self.around.clock(), limit=FORGOTTEN_AT_ONCE)

    def _forget_events(self, conn: Connection) -> int:
        self.guard(conn)
        return forget_events(conn, before=self.around.clock() - self.inbox_kept, limit=FORGOTTEN_AT_ONCE)

    def _forget_revocations(self, conn: Connection) -> int:
        """What they refused has expired by itself."""
        self.guard(conn)
        return forget_revocations(conn, before=self.around.clock(), limit=FORGOTTEN_AT_ONCE)

    def _forget_reconciliations(self, conn: Connection) -> int:
        self.guard(conn)
        before = self.around.clock() - self.reconciliations_kept
        return forget_reconciliations(conn, before=before, limit=FORGOTTEN_AT_ONCE)
