"""Makes download links for callers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from services.api.audit.trail import AuditTrail
from services.api.downloads.bearer import as_known
from services.api.downloads.current import downloadable
from services.api.downloads.ticket import Ticket
from services.api.edge.answers import Answer, found
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from shared.auth.sealing import Sealer
from shared.contracts.documents import EmptyRequest
from shared.contracts.enums import ResourceType
from shared.contracts.ids import DocumentId
from shared.contracts.retrieval import DOWNLOAD_SECONDS, DownloadLink
from shared.contracts.route import Route
from shared.contracts.routes import DOCUMENT_DOWNLOAD
from shared.database.accounts import load_account
from shared.domain.identity import Caller
from shared.domain.version import Version
from shared.lifecycle.accounts import is_news, note_account

DOWNLOADS: Final = "/downloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadRoutes:
    """Download links."""

    moves: Moves
    sealer: Sealer
    trail: AuditTrail
    address: str
    """Where clients reach the api from outside."""

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {DOCUMENT_DOWNLOAD: self.create_link}

    async def create_link(self, call: Call) -> Answer:
        """A link that fetches the active version's file for a minute, in the caller's name."""
        document_id = call.id("documentId", DocumentId)
        await call.read(EmptyRequest)
        moves = self.moves
        version, has_news = await moves.database.read(lambda conn: self._look(conn, call.caller, document_id))
        if has_news:
            request = moves.request(call)
            await moves.database.write(lambda conn: note_account(conn, request, moves.around))
        ticket = Ticket.of(call.caller, document_id, version.id, moves.around.clock())
        await self.trail.read(call, ResourceType.DOCUMENT, document_id, {"version": version.id})
        return found(self._link(version, ticket.seal(self.sealer), ticket.expires_at))

    def _look(self, conn: Connection, caller: Caller, document_id: DocumentId) -> tuple[Version, bool]:
        """The version, and whether the directory has yet to learn what the caller belongs to.

        Whoever uses the link has no assertion, so a managed account must be allowed by what is kept of it as well.
        """
        version = downloadable(conn, caller, document_id, self.moves.roles)
        account = load_account(conn, caller.tenant, caller.subject)
        if account is not None and account.is_managed:
            version = downloadable(conn, as_known(caller, account), document_id, self.moves.roles)
        return version, is_news(account, caller)

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
