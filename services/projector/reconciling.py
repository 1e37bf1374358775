"""Carries out reconciliations under the lease: those that are asked for, and one of all tenants every so often."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

import structlog
from sqlalchemy import Connection

from services.projector.comparing import Comparison
from services.projector.report import Report
from services.projector.surveying import Survey
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.database.reconciliations import Reconciliation, next_reconciliation
from shared.domain.errors import Transient
from shared.domain.unfinished import LiveWorkers
from shared.lifecycle.reconcile import begin_reconciliation, is_due, request_when_due
from shared.lifecycle.surroundings import Surroundings

T = TypeVar("T")

CRASHED: Final = "It ended unexpectedly, and the projector's log tells why. What was repaired by then stays repaired."

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Eyes:
    """What a reconciliation looks at beside the database."""

    survey: Survey
    workers: Callable[[], LiveWorkers]
    patience: timedelta
    """How long the broker takes to hand a command on whose worker is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciling:
    """The reconciler of one term. `guard` joins each of its transactions and holds the lease."""

    database: Database
    around: Surroundings
    guard: Callable[[Connection], None]
    eyes: Eyes
    every: timedelta
    settled_after: timedelta
    since: datetime
    """When the term began: the first reconciliation of all comes so long after that, if there was none before."""
    on_ended: Callable[[Reconciliation], None]

    async def round(self) -> None:
        """Carry out what waits, the oldest first. One that a projector has left unfinished begins anew."""
        now = self.around.clock()
        if await self.database.read(partial(is_due, every=self.every, since=self.since, now=now)):
            await self._write(partial(request_when_due, every=self.every, since=self.since, around=self.around))
        while (waiting := await self.database.read(next_reconciliation)) is not None:
            await self._carry_out(waiting)

    async def _carry_out(self, waiting: Reconciliation) -> None:
        """What stops for want of the database goes on at the next turn; a bug of ours must not be met for ever."""
        begin = partial(begin_reconciliation, reconciliation_id=waiting.id, around=self.around)
        report = Report(database=self.database, guard=self.guard, around=self.around, known=await self._write(begin))
        try:
            await self._comparison(report).run()
        except (Transient, LeaseLost):
            raise
        except Exception:
            log.exception("projector.reconciliation.crashed", reconciliation=waiting.id)
            await report.fail(CRASHED)
        else:
            await report.end()
        self._tell(report.known)

    def _comparison(self, report: Report) -> Comparison:
        return Comparison(
            database=self.database,
            survey=self.eyes.survey,
            workers=self.eyes.workers,
            patience=self.eyes.patience,
            settled_after=self.settled_after,
            around=self.around,
            tenant_id=report.known.tenant_id,
            report=report,
        )

    def _tell(self, ended: Reconciliation) -> None:
        found = {kind.value.lower(): number for kind, number in ended.totals.items()}
        log.info(
            "projector.reconciliation.ended",
            reconciliation=ended.id,
            status=ended.status.value,
            error=ended.error,
            found=found,
        )
        self.on_ended(ended)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        def guarded(conn: Connection) -> T:
            self.guard(conn)
            return work(conn)

        return await self.database.write(guarded)
