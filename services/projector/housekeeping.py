"""What falls due by time alone: purges, expired files, answers and inbox entries nobody needs any more."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from shared.database.database import Database
from shared.database.files import expired_resources, forget_resources
from shared.database.idempotency import forget_answers
from shared.database.inbox import forget_events
from shared.lifecycle.purges import issue_purges, release_files
from shared.lifecycle.surroundings import Surroundings

PIECE = 100
"""Rows of one kind handled in one transaction: mass work never holds up the rest."""
FORGOTTEN_AT_ONCE = 1000
"""Rows that only have to go are deleted so many in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Housekeeping:
    """Runs under the lease, in small transactions."""

    database: Database
    around: Surroundings
    guard: Callable[[Connection], None]
    inbox_kept: timedelta

    async def issue_due_purges(self) -> int:
        """Issue the purges that are due; how many."""
        return await self.database.write(self._issue)

    async def sweep(self) -> None:
        """Forget what has expired, and order the deletion of files that nothing names any more."""
        while await self.database.write(self._expire) == PIECE:
            pass
        for forget in (self._forget_answers, self._forget_events):
            while await self.database.write(forget) == FORGOTTEN_AT_ONCE:
                pass

    def _issue(self, conn: Connection) -> int:
        self.guard(conn)
        return issue_purges(conn, self.around, limit=PIECE)

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
