"""Serves what a download link names: whole or in part, while its bearer may still have exactly that version."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy import Connection
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from services.api.audit.trail import AuditTrail
from services.api.downloads.bearer import current_bearer
from services.api.downloads.current import downloadable
from services.api.downloads.ranges import Unsatisfiable, wanted_span
from services.api.downloads.ticket import Ticket
from services.api.edge.middleware import HEADERS, ROUTE
from services.api.edge.stamps import STAMPS, Stamps
from shared.auth.sealing import Sealer
from shared.contracts.enums import ResourceType
from shared.database.database import Database
from shared.domain.audit import Actor, Origin, Outcome
from shared.domain.authorization import RoleTable
from shared.domain.errors import NotFound, Rejected, Transient
from shared.domain.version import Version
from shared.files.naming import content_disposition
from shared.files.store import ByteSpan, FileStore
from shared.telemetry.stamps import Clock

log = structlog.get_logger()

FETCH: Final = "download_fetch"
METHODS: Final = ("GET", "HEAD")

DEAD_LINK: Final = "This link is not valid, or not any more. Ask for a new one.\n"
AWAY: Final = "The file cannot be fetched right now. Try again in a moment.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """The ASGI endpoint of download links. It speaks plain HTTP: browsers and download tools come here."""

    database: Database
    store: FileStore
    sealer: Sealer
    roles: RoleTable
    trail: AuditTrail
    clock: Clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Every reason why a link does not work gets the same answer."""
        scope[ROUTE] = FETCH
        response: Response
        if scope["method"] not in METHODS:
            response = PlainTextResponse("", 405, {"Allow": ", ".join(METHODS)})
        else:
            try:
                response = await self._fetch(scope)
            except Rejected:
                response = PlainTextResponse(DEAD_LINK, 404)
            except Transient:
                log.exception("api.download.failed", request_id=scope[STAMPS].request_id)
                response = PlainTextResponse(AWAY, 503, {"Retry-After": "1"})
        await response(scope, receive, send)

    async def _fetch(self, scope: Scope) -> Response:
        ticket = Ticket.open(scope["path_params"]["token"], self.sealer, self.clock())
        try:
            version = await self.database.read(lambda conn: self._current(conn, ticket))
        except Rejected:
            await self._note(ticket, scope[STAMPS], Outcome.DENIED)
            raise
        headers: Mapping[str, str] = scope[HEADERS]
        size, etag = version.source.size, f'"{version.source.sha256}"'
        span = wanted_span(headers.get("range"), headers.get("if-range"), etag, size)
        if isinstance(span, Unsatisfiable):
            return PlainTextResponse("", 416, {"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
        await self._note(ticket, scope[STAMPS], Outcome.DONE)
        answered = _headers(version, span, etag)
        status = 200 if span is None else 206
        if scope["method"] == "HEAD":
            return Response(status_code=status, headers=answered)
        content = await _begun(self.store.get_stream(version.source.object_key, span))
        return StreamingResponse(content, status, answered)

    def _current(self, conn: Connection, ticket: Ticket) -> Version:
        """The ticket's version; NotFound when another one serves by now, or its bearer may not have it any more."""
        version = downloadable(conn, current_bearer(conn, ticket), ticket.document_id, self.roles)
        if version.id != ticket.version_id:
            raise NotFound
        return version

    async def _note(self, ticket: Ticket, stamps: Stamps, outcome: Outcome) -> None:
        origin = Origin(
            actor=Actor.API, caller=ticket.bearer, request_id=stamps.request_id, traceparent=stamps.traceparent
        )
        await self.trail.note(
            origin, FETCH, outcome, ResourceType.DOCUMENT, ticket.document_id, {"version": ticket.version_id}
        )


def _headers(version: Version, span: ByteSpan | None, etag: str) -> dict[str, str]:
    """A file from somebody else is never shown in our name: it is saved, and a page of it may do nothing."""
    size = version.source.size
    length = size if span is None else span.end - span.start
    headers = {
        "Content-Type": version.source.content_type,
        "Content-Length": str(length),
        "Content-Disposition": content_disposition(version.source.file_name),
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Referrer-Policy": "no-referrer",
    }
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{size}"
    return headers


async def _begun(content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The content with its first piece fetched already, so that a missing file is still told by the status."""
    first = await anext(content, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for piece in content:
            yield piece

    return whole()
