"""Makes a file resource of an upload that is whole: its parts go once through the same intake as a plain upload."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakValueDictionary

from services.api.uploads.clearing import Clearing
from shared.contracts.ids import UploadId
from shared.database.database import Database
from shared.database.uploads import Upload, UploadPart, parts_of
from shared.domain.errors import FileRefused, Rejected, StoreUnavailable
from shared.files.errors import ObjectMissing
from shared.files.intake import ReceivedFile, receive
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.request import Request
from shared.lifecycle.resumable_upload import find_result, finish_upload, own_upload, refuse_upload
from shared.lifecycle.store_file import StoredResource
from shared.lifecycle.surroundings import Surroundings

PARTS_MISSING: Final = "Not everything that has arrived of the upload is to be found right now."


@dataclass(frozen=True, slots=True, kw_only=True)
class Finishing:
    """Finishes uploads. It may be asked any number of times, by any process: an upload becomes one file."""

    database: Database
    store: FileStore
    around: Surroundings
    settings: FilesSettings
    clearing: Clearing
    _turns: "WeakValueDictionary[UploadId, asyncio.Lock]" = field(default_factory=WeakValueDictionary)
    """Who asks again while this process is at it waits for its result instead of doing the same once more."""

    async def finish(self, upload_id: UploadId, request: Request) -> StoredResource:
        """What the upload has become. FileRefused when its content cannot be taken: then the upload is over."""
        async with self._turns.setdefault(upload_id, asyncio.Lock()):
            upload = await self._own(upload_id, request)
            known = await self._result(upload, request)
            if known is not None:
                return known
            try:
                received = await self._receive(upload)
            except FileRefused as refusal:
                return await self._refuse(upload, request, refusal)
            except (ObjectMissing, StoreUnavailable):
                # Another process that was faster has removed the parts.
                known = await self._result(await self._own(upload_id, request), request)
                if known is None:
                    raise
                return known
            return await self._register(upload, received, request)

    async def _receive(self, upload: Upload) -> ReceivedFile:
        parts = await self.database.read(lambda conn: parts_of(conn, upload.id))
        if sum(part.size for part in parts) != upload.length:
            raise StoreUnavailable(PARTS_MISSING)
        return await receive(self.store, self._joined(parts), claimed_name=upload.file_name, limit=upload.length)

    async def _refuse(self, upload: Upload, request: Request, refusal: FileRefused) -> StoredResource:
        known = await self.database.write(lambda conn: refuse_upload(conn, upload.id, request, self.around))
        if known is not None:
            return known
        await self.clearing.clear(upload.id)
        raise refusal

    async def _register(self, upload: Upload, received: ReceivedFile, request: Request) -> StoredResource:
        kept = self.settings.resource_ttl
        try:
            stored = await self.database.write(
                lambda conn: finish_upload(conn, upload.id, received, kept, request, self.around)
            )
        except Rejected:  # after any other error the row may be there, and then the object must be
            await self.store.delete(received.key)
            raise
        if stored.file.object_key != received.key:
            await self.store.delete(received.key)
        await self.clearing.clear(upload.id)
        return stored

    async def _own(self, upload_id: UploadId, request: Request) -> Upload:
        return await self.database.read(lambda conn: own_upload(conn, upload_id, request, self.around))

    async def _result(self, upload: Upload, request: Request) -> StoredResource | None:
        if upload.file_resource_id is None:
            return None
        return await self.database.read(lambda conn: find_result(conn, upload, request, self.around))

    async def _joined(self, parts: Sequence[UploadPart]) -> AsyncIterator[bytes]:
        for part in parts:
            async for piece in self.store.get_stream(part.object_key):
                yield piece
