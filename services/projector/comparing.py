"""Compares, for one reconciliation, what our rows say with what workers, providers and object store do.

What cannot be looked at is left out and said so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import Connection

from services.projector.report import Report
from services.projector.surveying import NotLookedAt, Survey
from shared.contracts.enums import FindingKind, FindingOutcome
from shared.contracts.ids import TenantId
from shared.contracts.operating import MOST_FINDINGS
from shared.database.comparing import LiveFile, ServedVersion, live_files, served_versions, spaces_to_compare
from shared.database.database import Database
from shared.database.files import load_files
from shared.database.tables.files import FileStatus
from shared.database.unfinished import look_into, overdue_operations
from shared.domain.reconciling import (
    UNKNOWN_OBJECT_AGE,
    Difference,
    Mended,
    SeenDocument,
    are_too_many,
    overdue,
)
from shared.domain.space import Space
from shared.domain.unfinished import LiveWorkers, Unfinished, explain
from shared.files.store import ObjectStat
from shared.lifecycle.reconcile_files import missing_object, unknown_objects, unneeded_files
from shared.lifecycle.reconcile_space import compare_seen, compare_served
from shared.lifecycle.surroundings import Surroundings

PIECE: Final = 500
"""Rows that are read at once."""
UNBELIEVED: Final = Mended(
    FindingOutcome.REPORTED,
    "It is not indexed anew: so much of its space seems to be missing that the provider is to be looked at first.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One comparison, of a tenant or of all, whose differences go into a report."""

    database: Database
    survey: Survey
    workers: Callable[[], LiveWorkers]
    patience: timedelta
    settled_after: timedelta
    around: Surroundings
    tenant_id: TenantId | None
    report: Report

    async def run(self) -> None:
        """Compare everything."""
        await self._operations()
        await self._spaces()
        await self._files()

    async def _operations(self) -> None:
        now = self.around.clock()
        still_before = now - self.around.settings.overdue_after

        def look(conn: Connection) -> tuple[list[Unfinished], int]:
            oldest, number = overdue_operations(conn, self.tenant_id, still_before=still_before, limit=MOST_FINDINGS)
            return look_into(conn, oldest), number

        found, number = await self.database.read(look)
        workers = self.workers()
        await self.report.add([overdue(one.operation, explain(one, workers, now, self.patience)) for one in found], now)
        await self.report.count_more(FindingKind.OVERDUE_OPERATION, number - len(found))

    async def _spaces(self) -> None:
        after = ""
        while spaces := await self.database.read(
            partial(spaces_to_compare, tenant_id=self.tenant_id, after=after, limit=PIECE)
        ):
            for space in spaces:
                try:
                    await self._space(space)
                except NotLookedAt as error:
                    self.report.leave_out(str(error))
            after = spaces[-1].id

    async def _space(self, space: Space) -> None:
        """Rows are read after the provider's list, so that every document in it has had its row by then."""
        settled_before = self._settled_before()
        seen = await self.survey.documents(space)
        for start in range(0, len(seen), PIECE):
            piece = seen[start : start + PIECE]
            found = await self.database.read(
                partial(compare_seen, space=space, seen=piece, settled_before=settled_before)
            )
            await self.report.add(found, settled_before)
        missing, served = await self._missing(space, {one.native_id: one for one in seen}, settled_before)
        if are_too_many(len(missing), served):
            await self.report.note(missing, UNBELIEVED, settled_before)
        else:
            await self.report.add(missing, settled_before)

    async def _missing(
        self, space: Space, seen: Mapping[str, SeenDocument], settled_before: datetime
    ) -> tuple[list[Difference], int]:
        """What the provider does not have of all that the space serves, and how much that is."""
        compare = partial(compare_served, space=space, seen=seen, settled_before=settled_before)
        missing: list[Difference] = []
        number, after = 0, None
        while page := await self._served(space, after):
            missing += await self.database.read(partial(compare, served=page))
            number, after = number + len(page), page[-1]
        return missing, number

    async def _served(self, space: Space, after: ServedVersion | None) -> list[ServedVersion]:
        return await self.database.read(partial(served_versions, space_id=space.id, after=after, limit=PIECE))

    async def _files(self) -> None:
        """The rows are read after the objects; a file that is younger than that is not judged."""
        settled_before = self._settled_before()
        try:
            stored: set[int] | None = await self._objects()
        except NotLookedAt as error:
            self.report.leave_out(str(error))
            stored = None
        after = ""
        while page := await self.database.read(
            partial(live_files, tenant_id=self.tenant_id, before=settled_before, after=after, limit=PIECE)
        ):
            await self.report.add(unneeded_files(page), settled_before)
            if stored is not None:
                await self._missing_objects([live for live in page if hash(live.file.object_key) not in stored])
            after = page[-1].file.id

    async def _objects(self) -> set[int]:
        """The hashes of all keys, which take less room than the keys. Objects without a row are reported meanwhile.

        Whose they were cannot be told, so that only a comparison of all tenants looks for them.
        """
        now = self.around.clock()
        stored: set[int] = set()
        async for piece in self.survey.objects():
            stored.update(hash(stat.key) for stat in piece)
            if self.tenant_id is None:
                await self._unknown_objects([stat for stat in piece if now - stat.modified_at > UNKNOWN_OBJECT_AGE])
        return stored

    async def _unknown_objects(self, old: Sequence[ObjectStat]) -> None:
        found = await self.database.read(partial(unknown_objects, objects=old))
        await self.report.add(found, self.around.clock())

    async def _missing_objects(self, absent: Sequence[LiveFile]) -> None:
        """Those that are named and are LIVE still: one that has been deleted meanwhile had to be absent."""
        named = {live.file.id for live in absent if live.is_named}
        files = await self.database.read(partial(load_files, ids=named))
        missing = [missing_object(file) for file in files.values() if file.status is FileStatus.LIVE]
        await self.report.add(missing, self.around.clock())

    def _settled_before(self) -> datetime:
        return self.around.clock() - self.settled_after
