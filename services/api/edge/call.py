"""One authenticated request, as a handler sees it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from starlette.responses import Response
from starlette.types import Receive

from services.api.edge.answers import Answer
from services.api.edge.bodies import read_json_bytes
from services.api.edge.leaving import unless_gone
from services.api.edge.paths import decode_id
from services.api.edge.stamps import Stamps, is_acceptable
from shared.contracts.body import Body
from shared.contracts.errors import RequestRefused, invalid
from shared.contracts.reading import read_body, read_query
from shared.contracts.route import IDEMPOTENCY_KEY, Route
from shared.domain.audit import Actor, Origin
from shared.domain.errors import (
    DocumentNotFound,
    LetterNotFound,
    NotFound,
    OperationNotFound,
    ReconciliationNotFound,
    SpaceNotFound,
)
from shared.domain.identity import Caller
from shared.lifecycle.accounts import AccountNotFound
from shared.lifecycle.candidates import FileNotFound
from shared.lifecycle.resumable_upload import UploadNotFound
from shared.lifecycle.service_tokens import TokenNotFound

Model = TypeVar("Model", bound=Body)
Kind = TypeVar("Kind")

MOST_QUERY_FIELDS: Final = 20

_ABSENT: Final[Mapping[str, type[NotFound]]] = {
    "spaceId": SpaceNotFound,
    "documentId": DocumentNotFound,
    "operationId": OperationNotFound,
    "fileResourceId": FileNotFound,
    "uploadId": UploadNotFound,
    "subject": AccountNotFound,
    "tokenId": TokenNotFound,
    "letterId": LetterNotFound,
    "reconciliationId": ReconciliationNotFound,
}
"""What an id in the path that can name nothing is answered with: the same as one that names nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked, by whom, within which request. The body is read only by whoever wants it, and once."""

    route: Route
    caller: Caller
    stamps: Stamps
    headers: Mapping[str, str]
    segments: Mapping[str, str]
    """The ids in the path, still percent-encoded."""
    query_string: bytes
    chunks: AsyncIterator[bytes]
    """The body in pieces, as it arrives."""
    receive: Receive
    """What comes over the connection; the last of it is that the caller has hung up."""

    def id(self, name: str, kind: Callable[[str], Kind]) -> Kind:
        """An id from the path; NotFound when it can name nothing of ours."""
        text = decode_id(self.segments[name])
        if text is None:
            raise _ABSENT.get(name, NotFound)
        return kind(text)

    async def read(self, model: type[Model]) -> Model:
        """The JSON body; RequestRefused with everything that is wrong with it."""
        return read_body(model, await read_json_bytes(self.headers, self.chunks))

    def query(self, model: type[Model]) -> Model:
        """The query string; RequestRefused for what is wrong or not known."""
        return read_query(model, query_pairs(self.query_string))

    async def unless_gone(self, work: Coroutine[None, None, Kind]) -> Kind:
        """What the work comes to; ClientDisconnect when the caller hangs up first. The body is not read any more."""
        return await unless_gone(work, self.receive)

    def idempotency_key(self) -> str:
        """The key under which this request takes effect once; RequestRefused without one."""
        key = self.headers.get(IDEMPOTENCY_KEY.name.lower())
        if key is None:
            raise _bad_key("MISSING", "A request that changes something needs this header")
        if not is_acceptable(key, IDEMPOTENCY_KEY):
            raise _bad_key("INVALID", "Must be 1 to 128 printable ASCII characters without spaces")
        return key

    @property
    def tool_call_id(self) -> str:
        """The agent's own id of this call; authentication has made sure that it is there."""
        return self.headers["x-tool-call-id"]

    def origin(self) -> Origin:
        """Where a read or a denial comes from, for the audit."""
        return Origin(
            actor=Actor.API,
            caller=self.caller,
            tool_call_id=self.tool_call_id,
            request_id=self.stamps.request_id,
            traceparent=self.stamps.traceparent,
        )


Handler = Callable[[Call], Awaitable[Answer | Response]]
"""Answers one call, in a form of its own if need be; raises what is to be answered as an error."""


def query_pairs(query_string: bytes) -> list[tuple[str, str]]:
    """The names and values of a query string in their order; RequestRefused when there are too many."""
    try:
        return parse_qsl(
            query_string.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=MOST_QUERY_FIELDS
        )
    except ValueError:
        raise invalid("$", "WRONG_COUNT", "There are too many query parameters") from None


def _bad_key(reason: str, message: str) -> RequestRefused:
    return invalid(IDEMPOTENCY_KEY.name, reason, message)
