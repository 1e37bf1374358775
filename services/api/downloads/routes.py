"""Makes download links for callers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from services.api.audit.trail import AuditTrail
from services.api.downloads.current import downloadable
from services.api.downloads.ticket import Ticket
from services.api.edge.answers import Answer, found
from services.api.edge.call import Call, Handler
from shared.auth.sealing import Sealer
from shared.contracts.documents import EmptyRequest
from shared.contracts.enums import ResourceType
from shared.contracts.ids import DocumentId
from shared.contracts.retrieval import DOWNLOAD_SECONDS, DownloadLink
from shared.contracts.route import Route
from shared.contracts.routes import DOCUMENT_DOWNLOAD
from shared.database.database import Database
from shared.domain.authorization import RoleTable
from shared.domain.version import Version
from shared.telemetry.stamps import Clock

DOWNLOADS: Final = "/downloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadRoutes:
    """Download links."""

    database: Database
    sealer: Sealer
    roles: RoleTable
    trail: AuditTrail
    clock: Clock
    address: str
    """Where clients reach the api from outside."""

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {DOCUMENT_DOWNLOAD: self.create_link}

    async def create_link(self, call: Call) -> Answer:
        """A link that fetches the active version's file for a minute, in the caller's name."""
        document_id = call.id("documentId", DocumentId)
        await call.read(EmptyRequest)
        version = await self.database.read(lambda conn: downloadable(conn, call.caller, document_id, self.roles))
        expires_at = self.clock() + timedelta(seconds=DOWNLOAD_SECONDS)
        ticket = Ticket(caller=call.caller, document_id=document_id, version_id=version.id, expires_at=expires_at)
        await self.trail.read(call, ResourceType.DOCUMENT, document_id, {"version": version.id})
        return found(self._link(version, ticket.seal(self.sealer), expires_at))

    def _link(self, version: Version, token: str, expires_at: datetime) -> DownloadLink:
        return DownloadLink(
            document_id=version.document_id,
            version_id=version.id,
            file_name=version.source.file_name,
            mime_type=version.source.content_type,
            file_size=version.source.size,
            download_url=f"{self.address}{DOWNLOADS}/{token}",
            expires_at=expires_at,
            expires_in_seconds=DOWNLOAD_SECONDS,
        )
