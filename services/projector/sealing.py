"""Seals what was written to the audit, again and again, under the lease."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from shared.database.audit_chain import has_unsealed
from shared.database.database import Database
from shared.lifecycle.seal_audit import Sealed, seal_audit
from shared.telemetry.stamps import Clock

MOST_AT_ONCE: Final = 500
"""Entries sealed in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealing:
    """The sealer. `guard` joins each transaction and holds the lease."""

    database: Database
    guard: Callable[[Connection], None]
    clock: Clock
    on_sealed: Callable[[Mapping[str, int]], None]
    """Told where the chains end that have grown."""

    async def round(self) -> None:
        """Seal everything that waits; nothing is written when nothing does."""
        while await self.database.read(has_unsealed):
            sealed = await self.database.write(self._seal)
            self.on_sealed(sealed.ends)
            if sealed.entries < MOST_AT_ONCE:
                return

    def _seal(self, conn: Connection) -> Sealed:
        self.guard(conn)
        return seal_audit(conn, self.clock(), limit=MOST_AT_ONCE)
