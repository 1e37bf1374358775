"""The report of one reconciliation while it is carried out: what is found goes in piece by piece, put right or not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from sqlalchemy import Connection

from shared.contracts.enums import FindingKind, FindingOutcome, ReconciliationStatus
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.reconciliations import Reconciliation
from shared.domain.errors import Transient
from shared.domain.reconciling import Difference, Mended
from shared.lifecycle.mending import Mending
from shared.lifecycle.reconcile import add_differences, count_more, end_reconciliation, note_differences
from shared.lifecycle.surroundings import Surroundings

AT_ONCE: Final = 50
"""Differences that are put right in one transaction."""
NOT_REPAIRED: Final = Mended(FindingOutcome.FAILED, "The repair failed; the next reconciliation tries again.")

log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class Report:
    """Every piece is stored with what was done about it, so that a successor knows what a dead projector has done."""

    database: Database
    guard: Callable[[Connection], None]
    around: Surroundings
    known: Reconciliation
    """As it is stored."""
    _unseen: list[str] = field(default_factory=list)

    async def add(self, differences: Sequence[Difference], settled_before: datetime) -> None:
        """Put differences right if the reconciliation applies, and note what became of each.

        When that fails for a piece, each of it alone: one must not hold up the rest.
        """
        mending = self._mending(settled_before)
        for start in range(0, len(differences), AT_ONCE):
            piece = differences[start : start + AT_ONCE]
            try:
                await self._add(piece, mending)
            except (Transient, LeaseLost):
                raise
            except Exception:
                log.exception("projector.repairs.failed", reconciliation=self.known.id)
                for difference in piece:
                    await self._add_alone(difference, mending)

    async def note(self, differences: Sequence[Difference], mended: Mended, settled_before: datetime) -> None:
        """Note that this became of all these differences."""
        if differences:
            mending = self._mending(settled_before)
            await self._store(partial(note_differences, differences=differences, mended=mended, mending=mending))

    async def count_more(self, kind: FindingKind, number: int) -> None:
        """Count so many more of a kind without naming them."""
        if number:
            await self._store(partial(count_more, kind=kind, number=number))

    def leave_out(self, what: str) -> None:
        """Say what could not be looked at."""
        self._unseen.append(what)

    async def end(self) -> None:
        """The reconciliation is DONE; it says what could not be looked at."""
        unseen = f"Not looked at: {'; '.join(self._unseen)}." if self._unseen else None
        await self._end(ReconciliationStatus.DONE, unseen)

    async def fail(self, error: str) -> None:
        """The reconciliation is FAILED."""
        await self._end(ReconciliationStatus.FAILED, error)

    async def _end(self, status: ReconciliationStatus, error: str | None) -> None:
        await self._store(partial(end_reconciliation, status=status, error=error, around=self.around))

    async def _add(self, differences: Sequence[Difference], mending: Mending) -> None:
        await self._store(partial(add_differences, differences=differences, mending=mending))

    async def _add_alone(self, difference: Difference, mending: Mending) -> None:
        try:
            await self._add([difference], mending)
        except (Transient, LeaseLost):
            raise
        except Exception:
            log.exception("projector.repair.failed", reconciliation=self.known.id, kind=difference.kind.value)
            await self.note([difference], NOT_REPAIRED, mending.settled_before)

    def _mending(self, settled_before: datetime) -> Mending:
        return Mending(reconciliation_id=self.known.id, settled_before=settled_before, around=self.around)

    async def _store(self, move: Callable[..., Reconciliation]) -> None:
        known = self.known

        def guarded(conn: Connection) -> Reconciliation:
            self.guard(conn)
            return move(conn, known)

        self.known = await self.database.write(guarded)
