"""Takes files in: the bytes are the body, the name is a header, and what the file is is told from its content."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.api.edge.answers import Answer, found
from services.api.edge.bodies import declared_length
from services.api.edge.call import Call, Handler
from services.api.files.names import file_name
from services.api.files.views import file_resource
from services.api.metrics import ApiMetrics
from services.api.moves import Moves
from shared.contracts.enums import Action
from shared.contracts.files import FILE_GET, FILE_UPLOAD
from shared.contracts.ids import FileResourceId
from shared.contracts.route import Route
from shared.domain.authorization import require_action
from shared.domain.errors import Rejected
from shared.files.errors import FileTooLarge, FileTypeRefused
from shared.files.intake import ReceivedFile, receive
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.store_file import StoredResource, find_resource, store_file

FORMS: Final = ("multipart/", "application/x-www-form-urlencoded")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRoutes:
    """Uploaded files."""

    moves: Moves
    store: FileStore
    settings: FilesSettings
    metrics: ApiMetrics

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {FILE_UPLOAD: self.upload, FILE_GET: self.get}

    async def upload(self, call: Call) -> Answer:
        """Store the body and answer a resource; nothing is kept of a file that is refused.

        The name and the content may be those of another file or document: that is told, and nothing is refused for it.
        """
        require_action(call.caller, Action.DOCUMENT_UPLOAD, self.moves.roles)
        _refuse_forms(call.headers)
        name = file_name(call.headers)
        if (declared_length(call.headers) or 0) > self.settings.max_bytes:
            raise FileTooLarge(self.settings.max_bytes)
        received = await receive(
            self.store, self.metrics.counted(call.chunks), claimed_name=name, limit=self.settings.max_bytes
        )
        stored = await self._register(call, received)
        return Answer(status=FILE_UPLOAD.success_status, content=file_resource(stored).to_json())

    async def get(self, call: Call) -> Answer:
        """One file that the caller has uploaded, until it expires."""
        resource_id = call.id("fileResourceId", FileResourceId)
        request = self.moves.request(call)
        stored = await self.moves.database.read(
            lambda conn: find_resource(conn, resource_id, request, self.moves.around.clock())
        )
        return found(file_resource(stored))

    async def _register(self, call: Call, received: ReceivedFile) -> StoredResource:
        """Make a resource of what was stored. An object that no row names is removed, if only to save room."""
        request, around = self.moves.request(call), self.moves.around
        try:
            stored = await self.moves.database.write(
                lambda conn: store_file(conn, received, self.settings.resource_ttl, request, around)
            )
        except Rejected:  # after any other error the row may be there, and then the object must be
            await self.store.delete(received.key)
            raise
        if stored.is_twin:
            await self.store.delete(received.key)
        return stored


def _refuse_forms(headers: Mapping[str, str]) -> None:
    """A form's bytes are not the file's; taken as such they would be kept with the form around them."""
    if headers.get("content-type", "").strip().lower().startswith(FORMS):
        raise FileTypeRefused(
            "Send the bytes of the file as the body, not a form; a Content-Type of application/octet-stream will do.",
            field="Content-Type",
        )
