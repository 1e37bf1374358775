"""Audit entries of reads and denials: gathered in memory, written soon, none lost in a graceful stop.

What is only counted becomes entries every minute, and in the stop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Protocol

import structlog

from services.api.audit.counting import Counts, Kind
from services.api.metrics import ApiMetrics
from shared.contracts.enums import ResourceType
from shared.contracts.route import Route
from shared.contracts.wire import format_time
from shared.database.audit import write_entries
from shared.database.database import Database
from shared.database.errors import UniqueViolation
from shared.domain.audit import AuditEntry, Origin, Outcome
from shared.domain.errors import StoreUnavailable
from shared.telemetry.stamps import NewId

log = structlog.get_logger()

MOST_AT_ONCE: Final = 500
TRIES_AT_THE_END: Final = 5
LONGEST_ID: Final = 256
"""What is longer is no id of ours, and need not be kept whole to be known as that."""

Detail = str | int | float | bool | None
Write = Callable[[Sequence[AuditEntry]], Awaitable[None]]

_NOTHING: Final[Mapping[str, Detail]] = MappingProxyType({})
_RESOURCES: Final[Mapping[str, ResourceType]] = {
    "spaceId": ResourceType.SPACE,
    "documentId": ResourceType.DOCUMENT,
    "operationId": ResourceType.OPERATION,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long entries are gathered and others counted, when a failed write is tried again, and how many may wait."""

    gathered_for: timedelta = timedelta(milliseconds=50)
    tried_again_after: timedelta = timedelta(seconds=1)
    counted_for: timedelta = timedelta(minutes=1)
    most_waiting: int = 10_000
    """With so many unwritten entries the next read waits: what cannot be audited is not answered."""


USUAL_PACE: Final = Pace()


class Audited(Protocol):
    """What an entry tells of a request; a call satisfies it."""

    @property
    def route(self) -> Route:
        """Names the action."""

    @property
    def segments(self) -> Mapping[str, str]:
        """The ids in the path, still percent-encoded."""

    def origin(self) -> Origin:
        """Who, and within which request."""


class AuditTrail:
    """Writes entries behind the answers. `run` it as a task; `stop` it and the task ends with nothing left over."""

    def __init__(
        self,
        write: Write,
        metrics: ApiMetrics,
        clock: Callable[[], datetime],
        new_id: NewId,
        *,
        pace: Pace = USUAL_PACE,
    ) -> None:
        self._write = write
        self._pace = pace
        self._metrics = metrics
        self._clock = clock
        self._new_id = new_id
        self._waiting: list[AuditEntry] = []
        self._counts = Counts()
        self._counted_since = clock()
        self._changed = asyncio.Condition()
        self._is_stopping = False

    async def read(
        self, call: Audited, resource: ResourceType | None, resource_id: str | None, details: Mapping[str, Detail]
    ) -> None:
        """Note that a caller has read something, or brought a file."""
        await self.note(call.origin(), call.route.tool, Outcome.DONE, resource, resource_id, details)

    async def denied(self, call: Audited, code: str) -> None:
        """Note that a caller was refused what they may not do or see."""
        name = next((name for name in call.segments if name in _RESOURCES), None)
        resource = None if name is None else _RESOURCES[name]
        resource_id = None if name is None else call.segments[name][:LONGEST_ID]
        await self.note(call.origin(), call.route.tool, Outcome.DENIED, resource, resource_id, {"code": code})

    async def count(self, kind: Kind) -> None:
        """Note that something happened that is told by its number."""
        self._counts.add(kind)
        if self._counts.is_full:
            await self._add(*self._counted())

    async def note(
        self,
        origin: Origin,
        action: str,
        outcome: Outcome,
        resource: ResourceType | None = None,
        resource_id: str | None = None,
        details: Mapping[str, Detail] = _NOTHING,
    ) -> None:
        """Note what happened now."""
        await self._add(self._entry(origin, action, outcome, resource, resource_id, details))

    def _entry(
        self,
        origin: Origin,
        action: str,
        outcome: Outcome,
        resource: ResourceType | None,
        resource_id: str | None,
        details: Mapping[str, Detail],
    ) -> AuditEntry:
        return AuditEntry(
            id=self._new_id("aud"),
            tenant_id=None if origin.caller is None else origin.caller.tenant,
            at=self._clock(),
            origin=origin,
            action=action,
            outcome=outcome,
            resource_type=resource,
            resource_id=resource_id,
            details=details,
        )

    async def _add(self, *entries: AuditEntry) -> None:
        """Keep entries until they are written; waits while too many are."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._waiting) < self._pace.most_waiting)
            self._waiting.extend(entries)
            self._metrics.audit_waiting.set(len(self._waiting))
            self._changed.notify_all()

    def _counted(self) -> list[AuditEntry]:
        """An entry for everything that was counted since the last time."""
        since, self._counted_since = self._counted_since, self._clock()
        return [
            self._entry(
                told.origin,
                told.action,
                told.outcome,
                None,
                None,
                {**told.about, "count": number, "since": format_time(since)},
            )
            for told, number in ((kind.told, number) for kind, number in self._counts.take().items())
        ]

    async def run(self) -> None:
        """Write what comes, until stopped and done."""
        loop = asyncio.get_running_loop()
        counted_until = loop.time() + self._pace.counted_for.total_seconds()
        while not self._is_stopping:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(counted_until), self._changed:
                    await self._changed.wait_for(lambda: self._waiting or self._is_stopping)
            if loop.time() >= counted_until:
                counted_until = loop.time() + self._pace.counted_for.total_seconds()
                self._waiting.extend(self._counted())
            await asyncio.sleep(self._pace.gathered_for.total_seconds())
            if not await self._write_some():
                await asyncio.sleep(self._pace.tried_again_after.total_seconds())
        await self._write_the_rest()

    async def stop(self) -> None:
        """Have `run` write what is left and return."""
        async with self._changed:
            self._is_stopping = True
            self._changed.notify_all()

    async def _write_the_rest(self) -> None:
        self._waiting.extend(self._counted())
        tries = 0
        while self._waiting and tries < TRIES_AT_THE_END:
            if not await self._write_some():
                tries += 1
                await asyncio.sleep(self._pace.tried_again_after.total_seconds())
        if self._waiting:
            log.critical("api.audit.lost", entries=len(self._waiting))

    async def _write_some(self) -> bool:
        """Write one batch; False when the database did not take it, which costs nothing but time."""
        batch = self._waiting[:MOST_AT_ONCE]
        if not batch:
            return True
        try:
            await self._write_once(batch)
        except StoreUnavailable as error:
            log.warning("api.audit.delayed", entries=len(self._waiting), error=error.message)
            return False
        except Exception:
            log.exception("api.audit.failed", entries=len(self._waiting))
            return False
        async with self._changed:
            del self._waiting[: len(batch)]
            self._metrics.audit_waiting.set(len(self._waiting))
            self._changed.notify_all()
        return True

    async def _write_once(self, batch: Sequence[AuditEntry]) -> None:
        """Write a batch of which some may be there already, from a commit whose answer was lost."""
        try:
            await self._write(batch)
        except UniqueViolation:
            if len(batch) > 1:
                for entry in batch:
                    await self._write_once([entry])


def writer(database: Database) -> Write:
    """Writes entries in a transaction of their own."""

    async def write(entries: Sequence[AuditEntry]) -> None:
        await database.write(lambda conn: write_entries(conn, entries))

    return write
