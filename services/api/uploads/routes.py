"""What each method of tus does to an upload. Answers are headers; errors are raised, and told as plain text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Final

from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.uploads.clearing import Clearing
from services.api.uploads.finishing import Finishing
from services.api.uploads.protocol import (
    CHECKSUM_MISMATCH,
    file_name,
    has_bytes,
    refuse_unsupported,
    require_bytes,
    wanted_length,
    wanted_offset,
)
from services.api.uploads.receiving import Receiving
from shared.contracts.enums import Action
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import UploadId
from shared.contracts.route import Route
from shared.contracts.uploads import (
    ERROR_CODE,
    FILE_DEDUPLICATED,
    FILE_RESOURCE,
    UPLOAD_BEGIN,
    UPLOAD_CONTINUE,
    UPLOAD_END,
    UPLOAD_EXPIRES,
    UPLOAD_LENGTH,
    UPLOAD_LOOK,
    UPLOAD_METADATA,
    UPLOAD_OFFSET,
    UPLOADS,
    metadata_of,
)
from shared.database.uploads import Upload
from shared.domain.authorization import require_action
from shared.files.settings import FilesSettings
from shared.lifecycle.resumable_upload import OffsetMoved, begin_upload, end_upload, own_upload

MISMATCH: Final = "The bytes do not come to their checksum; nothing of them was kept.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRoutes:
    """Resumable uploads. Names, contents and duplicates are treated as those of plain uploads are."""

    moves: Moves
    settings: FilesSettings
    receiving: Receiving
    finishing: Finishing
    clearing: Clearing

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {
            UPLOAD_BEGIN: self.begin,
            UPLOAD_LOOK: self.look,
            UPLOAD_CONTINUE: self.proceed,
            UPLOAD_END: self.end,
        }

    async def begin(self, call: Call) -> Answer:
        """Begin an upload; the body may bring its first bytes."""
        require_action(call.caller, Action.DOCUMENT_UPLOAD, self.moves.roles)
        refuse_unsupported(call.headers)
        length = wanted_length(call.headers, self.settings.max_bytes)
        name, kept = file_name(call.headers), self.settings.upload_ttl
        request, around = self.moves.request(call), self.moves.around
        upload = await self.moves.database.write(lambda conn: begin_upload(conn, name, length, kept, request, around))
        headers = {"Location": f"{UPLOADS}/{upload.id}"}
        if has_bytes(call.headers):
            return await self._take(call, upload, headers)
        return _answer(call, upload, headers)

    async def look(self, call: Call) -> Answer:
        """Tell how much has arrived, and what the upload has become. One that is whole and no file yet is finished."""
        upload = await self._own(call)
        told = {UPLOAD_LENGTH: str(upload.length), UPLOAD_METADATA: metadata_of(upload.file_name)}
        return _answer(call, upload, {**told, **await self._result(call, upload)})

    async def proceed(self, call: Call) -> Answer:
        """Take the bytes that follow what has arrived; the last of them make the upload a file."""
        require_bytes(call.headers)
        offset = wanted_offset(call.headers)
        upload = await self._own(call)
        if offset != upload.received:
            raise OffsetMoved
        return await self._take(call, upload, {})

    async def end(self, call: Call) -> Answer:
        """End an upload and remove what has arrived of it. A file that it has become stays."""
        upload_id = call.id("uploadId", UploadId)
        request, around = self.moves.request(call), self.moves.around
        await self.moves.database.write(lambda conn: end_upload(conn, upload_id, request, around))
        await self.clearing.clear(upload_id)
        return Answer(status=UPLOAD_END.success_status, content=b"")

    async def _take(self, call: Call, upload: Upload, headers: Mapping[str, str]) -> Answer:
        received = await self.receiving.take(call, upload)
        if received.failure is not None:
            raise received.failure
        if received.is_mismatch:
            told = {ERROR_CODE: ErrorCode.INVALID_INPUT}
            return Answer(status=CHECKSUM_MISMATCH, content=MISMATCH.encode(), headers=told)
        upload = received.upload
        return _answer(call, upload, {**headers, **await self._result(call, upload)})

    async def _result(self, call: Call, upload: Upload) -> Mapping[str, str]:
        """What the upload has become, if it is whole."""
        if not upload.is_whole:
            return {}
        stored = await self.finishing.finish(upload.id, self.moves.request(call))
        return {FILE_RESOURCE: stored.resource.id, FILE_DEDUPLICATED: "true" if stored.is_twin else "false"}

    async def _own(self, call: Call) -> Upload:
        upload_id = call.id("uploadId", UploadId)
        request, around = self.moves.request(call), self.moves.around
        return await self.moves.database.read(lambda conn: own_upload(conn, upload_id, request, around))


def _answer(call: Call, upload: Upload, headers: Mapping[str, str]) -> Answer:
    told = {UPLOAD_OFFSET: str(upload.received), UPLOAD_EXPIRES: http_date(upload.expires_at)}
    return Answer(status=call.route.success_status, content=b"", headers={**told, **headers})


def http_date(moment: datetime) -> str:
    """A time as HTTP headers have it."""
    return format_datetime(moment, usegmt=True)
