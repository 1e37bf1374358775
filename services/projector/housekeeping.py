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
        await self.database.write(self._forget)

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

    def _forget(self, conn: Connection) -> None:
        self.guard(conn)
        now = self.around.clock()
        forget_answers(conn, before=now)
        forget_events(conn, before=now - self.inbox_kept)
