"""Takes the body of one request into an upload."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import ClientDisconnect

from services.api.edge.call import Call
from services.api.metrics import ApiMetrics
from services.api.uploads.arriving import Arriving, Piece
from services.api.uploads.clearing import Clearing
from services.api.uploads.protocol import checksum, require_room
from shared.contracts.errors import RequestRefused
from shared.database.database import Database
from shared.database.uploads import Upload, UploadPart
from shared.domain.errors import Rejected
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.resumable_upload import extend_upload
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """How one body ended."""

    upload: Upload
    """With everything of it that was kept."""
    failure: ClientDisconnect | RequestRefused | None = None
    """What ended the body too early."""
    is_mismatch: bool = False
    """The body did not come to its checksum, and nothing of it was kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiving:
    """Stores bodies and moves uploads on."""

    database: Database
    store: FileStore
    around: Surroundings
    settings: FilesSettings
    metrics: ApiMetrics
    clearing: Clearing

    async def take(self, call: Call, upload: Upload) -> Received:
        """Take what `call` brings after what the upload has; OffsetMoved when another request was faster."""
        room = upload.length - upload.received
        require_room(call.headers, room, upload.length)
        wanted = checksum(call.headers)
        arriving = Arriving(self.metrics.counted(call.chunks), room=room, length=upload.length, checksum=wanted)
        if wanted is not None:
            return await self._take_whole(upload, arriving)
        async for piece in arriving.stored(self.store):
            upload = await self._extend(upload, [piece])
        return Received(upload=upload, failure=arriving.failure)

    async def _take_whole(self, upload: Upload, arriving: Arriving) -> Received:
        """All or nothing: whether the checksum is right shows only at the end."""
        pieces: list[Piece] = []
        try:
            async for piece in arriving.stored(self.store):
                pieces.append(piece)  # noqa: PERF401 - those that were stored before an error are needed then
        except BaseException:
            await self._drop(pieces)
            raise
        if arriving.failure is not None or not arriving.is_as_announced():
            await self._drop(pieces)
            return Received(upload=upload, failure=arriving.failure, is_mismatch=arriving.failure is None)
        return Received(upload=await self._extend(upload, pieces))

    async def _extend(self, upload: Upload, pieces: Sequence[Piece]) -> Upload:
        """Note what was stored. Objects that no row names are removed; after an unknown commit they may be named."""
        parts, end = [], upload.received
        for piece in pieces:
            parts.append(UploadPart(upload_id=upload.id, starts_at=end, size=piece.size, object_key=piece.object_key))
            end += piece.size
        kept = self.settings.upload_ttl
        try:
            expires_at = await self.database.write(lambda conn: extend_upload(conn, upload, parts, kept, self.around))
        except Rejected:
            await self._drop(pieces)
            raise
        return replace(upload, received=end, expires_at=expires_at)

    async def _drop(self, pieces: Sequence[Piece]) -> None:
        await self.clearing.remove([piece.object_key for piece in pieces])
