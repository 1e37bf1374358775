"""Sends a large file by tus 1.0, piece by piece: a lost connection or a restarted gateway costs one piece, not all."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

import httpx

from shared.client.errors import BrokenAnswer, Busy, ContentChanged, ErrorAnswer, Refused
from shared.client.exchange import Exchange, asked_wait
from shared.contracts.errors import ERROR_RULES, ErrorCode
from shared.contracts.ids import FileResourceId
from shared.contracts.route import REQUEST_ID, Route
from shared.contracts.uploads import (
    ERROR_CODE,
    FILE_RESOURCE,
    OFFSET_BYTES,
    TUS_RESUMABLE,
    TUS_VERSION,
    UPLOAD_BEGIN,
    UPLOAD_CONTINUE,
    UPLOAD_LENGTH,
    UPLOAD_LOOK,
    UPLOAD_METADATA,
    UPLOAD_OFFSET,
    metadata_of,
)

OpenContent = Callable[[], AsyncIterator[bytes]]
"""Gives the content from its beginning, each time it is called."""

PIECE_BYTES: Final = 32 * 1024**2
CONFLICT: Final = 409
TOO_MANY: Final = 429
OURS_FROM: Final = 500
"""Without a code of ours the status tells: failures of what is in between pass, what is refused stays refused."""


class Rewound:
    """A content that is read on from wherever it is wanted. To go back it is opened anew, and skipped to the place."""

    def __init__(self, open_content: OpenContent) -> None:
        self._open = open_content
        self._pieces = open_content()
        self._rest = b""
        self._at = 0

    async def read(self, start: int, size: int) -> AsyncIterator[bytes]:
        """The `size` bytes from `start` on; `ContentChanged` when there are not so many."""
        if self._at > start:
            self._pieces, self._rest, self._at = self._open(), b"", 0
        while self._at < start:
            await self._next(start - self._at)
        while self._at < start + size:
            yield await self._next(start + size - self._at)

    async def _next(self, most: int) -> bytes:
        if not self._rest:
            self._rest = await anext(self._pieces, b"")
            if not self._rest:
                raise ContentChanged
        piece, self._rest = self._rest[:most], self._rest[most:]
        self._at += len(piece)
        return piece


async def send_resumably(
    exchange: Exchange, name: str, open_content: OpenContent, *, size: int, piece_bytes: int = PIECE_BYTES
) -> FileResourceId:
    """Send a file of `size` bytes, and give what it has become. Each piece has the exchange's whole patience."""
    content = Rewound(open_content)

    async def begin() -> str:
        return await _begin(exchange, name, size)

    upload = await exchange.repeat(begin)

    async def go_on() -> FileResourceId | None:
        """Send the next piece after what has arrived, whoever counted it; the resource once all of it has."""
        headers = await _ask(exchange, UPLOAD_LOOK, upload)
        offset = int(headers.get(UPLOAD_OFFSET, "0"))
        if offset < size:
            length = min(piece_bytes, size - offset)
            told = {UPLOAD_OFFSET: str(offset), "Content-Type": OFFSET_BYTES, "Content-Length": str(length)}
            headers = await _ask(exchange, UPLOAD_CONTINUE, upload, told, content.read(offset, length))
        found = headers.get(FILE_RESOURCE)
        return None if found is None else FileResourceId(found)

    while (resource_id := await exchange.repeat(go_on)) is None:
        pass
    return resource_id


async def _begin(exchange: Exchange, name: str, size: int) -> str:
    told = {UPLOAD_LENGTH: str(size), UPLOAD_METADATA: metadata_of(name)}
    headers = await _ask(exchange, UPLOAD_BEGIN, UPLOAD_BEGIN.path, told)
    if "Location" not in headers:
        raise BrokenAnswer(f"{UPLOAD_BEGIN.method} {UPLOAD_BEGIN.path}", "there is no Location")
    return headers["Location"]


async def _ask(
    exchange: Exchange,
    route: Route,
    url: str,
    told: Mapping[str, str] | None = None,
    content: AsyncIterator[bytes] | None = None,
) -> httpx.Headers:
    """Send one request of the protocol to where the gateway has put the upload; the headers of its answer."""
    headers = exchange.call_headers() | {TUS_RESUMABLE: TUS_VERSION} | dict(told or {})
    request = exchange.http.build_request(route.method, url, headers=headers, content=content)
    response = await exchange.send_as_caller(request)
    if response.status_code == route.success_status:
        return response.headers
    raise _failure_of(response, f"{route.method} {request.url.path}")


def _failure_of(response: httpx.Response, what: str) -> Refused | Busy | BrokenAnswer:
    """What an answer means that is not the expected one: the protocol's errors are texts, with our code in a header."""
    if response.is_success:
        return BrokenAnswer(what, f"the status is {response.status_code}")
    passes = _passes(response)
    answer = ErrorAnswer(
        status=response.status_code,
        code=response.headers.get(ERROR_CODE, ErrorCode.INTERNAL_ERROR.value),
        message=response.text.strip() or f"{what} was answered with status {response.status_code}.",
        retryable=passes,
        field_errors=(),
        request_id=response.headers.get(REQUEST_ID.name, ""),
        retry_after=asked_wait(response),
    )
    return Busy(answer) if passes else Refused(answer)


def _passes(response: httpx.Response) -> bool:
    """Whether asking again may help. After a conflict it does: the next try begins with a look at what has arrived."""
    if response.status_code == CONFLICT:
        return True
    code = response.headers.get(ERROR_CODE)
    if code in ERROR_RULES:
        return ERROR_RULES[ErrorCode(code)].retryable
    return response.status_code == TOO_MANY or response.status_code >= OURS_FROM
