"""Removes what is left of uploads that are over or have become files: objects first, then the rows that name them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy import Connection

from shared.contracts.ids import UploadId
from shared.database.database import Database
from shared.database.uploads import forget_parts, forget_upload, parts_of, uploads_to_clear
from shared.domain.errors import Transient
from shared.files.store import FileStore
from shared.telemetry.stamps import Clock

log = structlog.get_logger()

UPLOADS_AT_ONCE: Final = 100
REMOVED_AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """Any number of processes may clear the same upload at once: to remove what is gone changes nothing."""

    database: Database
    store: FileStore
    clock: Clock
    every: timedelta

    async def run(self) -> None:
        """Clear again and again, until cancelled."""
        while True:
            try:
                await self.sweep()
            except Transient as error:
                log.warning("api.uploads.not_cleared", error=error.message)
            await asyncio.sleep(self.every.total_seconds())

    async def sweep(self) -> None:
        """Clear every upload that needs it now."""
        found = UPLOADS_AT_ONCE
        while found == UPLOADS_AT_ONCE:
            over = await self._over()
            for upload_id in over:
                await self.clear(upload_id)
            found = len(over)

    async def clear(self, upload_id: UploadId) -> None:
        """Remove the upload's parts, and the upload itself when it is over."""
        parts = await self.database.read(lambda conn: parts_of(conn, upload_id))
        keys = [part.object_key for part in parts]
        await self.remove(keys)
        now = self.clock()

        def forget(conn: Connection) -> None:
            forget_parts(conn, upload_id, keys)
            forget_upload(conn, upload_id, now)

        await self.database.write(forget)

    async def remove(self, keys: Sequence[str]) -> None:
        """Remove objects, some of them at once."""
        for start in range(0, len(keys), REMOVED_AT_ONCE):
            await asyncio.gather(*(self.store.delete(key) for key in keys[start : start + REMOVED_AT_ONCE]))

    async def _over(self) -> list[UploadId]:
        now = self.clock()
        return await self.database.read(lambda conn: uploads_to_clear(conn, now, limit=UPLOADS_AT_ONCE))
