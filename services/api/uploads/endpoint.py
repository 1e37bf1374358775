"""The ASGI side of resumable uploads: versions, `OPTIONS`, and answers in the protocol's own form, not the envelope."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from services.api.edge.answers import Answer
from services.api.edge.call import Handler
from services.api.edge.errors import Refusal
from services.api.edge.middleware import HEADERS, ROUTE, UNKNOWN_ROUTE
from services.api.edge.resource import Edges, Resource
from services.api.edge.stamps import Stamps
from services.api.uploads.protocol import ALGORITHMS, EXTENSIONS
from shared.contracts.errors import ErrorCode
from shared.contracts.route import Route
from shared.contracts.uploads import ERROR_CODE, TUS_RESUMABLE, TUS_VERSION

OPTIONS_ROUTE: Final = "file_upload_options"
OVERRIDE: Final = "x-http-method-override"
VERSION_HEADERS: Final[Mapping[str, str]] = {TUS_RESUMABLE: TUS_VERSION, "Tus-Version": TUS_VERSION}
WRONG_VERSION: Final = f"This server speaks tus {TUS_VERSION}; say so in the header {TUS_RESUMABLE}.\n"


class PlainForm:
    """An answer is its headers; an error is a text for people, with its code in a header."""

    def success(self, answer: Answer, stamps: Stamps, now: datetime) -> Response:
        """What a handler has answered."""
        headers = {TUS_RESUMABLE: TUS_VERSION, **answer.headers}
        if not answer.content:
            return Response(status_code=answer.status, headers=headers)
        return PlainTextResponse(answer.content, answer.status, headers)

    def refused(self, refusal: Refusal, stamps: Stamps, now: datetime) -> Response:
        """The error's text, and what is wrong where if that says more."""
        error = refusal.error
        faults = [f"{fault.field}: {fault.message}" for fault in error.field_errors if fault.message != error.message]
        headers = {**VERSION_HEADERS, ERROR_CODE: error.code, **refusal.headers}
        return PlainTextResponse("\n".join((error.message, *faults, "")), refusal.status, headers)


class Tus:
    """One path of the protocol. Who may call is settled as everywhere; only `OPTIONS` tells anybody what there is."""

    def __init__(self, handlers: Mapping[Route, Handler], edges: Edges, *, max_bytes: int) -> None:
        self._resource = Resource(handlers, edges, PlainForm())
        self._offer = {
            **VERSION_HEADERS,
            "Tus-Extension": EXTENSIONS,
            "Tus-Max-Size": str(max_bytes),
            "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, by the method that it was meant to have."""
        headers: Mapping[str, str] = scope[HEADERS]
        meant = {**scope, "method": headers.get(OVERRIDE, scope["method"]).upper()}
        if meant["method"] == "OPTIONS":
            meant[ROUTE] = OPTIONS_ROUTE
            await Response(status_code=204, headers=self._offer)(scope, receive, send)
        elif headers.get(TUS_RESUMABLE.lower()) != TUS_VERSION:
            await PlainTextResponse(WRONG_VERSION, 412, {**VERSION_HEADERS, ERROR_CODE: ErrorCode.INVALID_INPUT})(
                scope, receive, send
            )
        else:
            await self._resource(meant, receive, send)
        scope[ROUTE] = meant.get(ROUTE, UNKNOWN_ROUTE)
