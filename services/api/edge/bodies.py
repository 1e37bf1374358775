"""Reads bodies: none for ever, and JSON no further than a limit."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Final

from shared.contracts.errors import ErrorCode, FieldError, RequestRefused, invalid

LONGEST_JSON: Final = 256 * 1024
"""Bytes; the longest body that the contract allows, with every character escaped, is about 150 KiB."""

PIECE_WITHIN: Final = timedelta(seconds=30)
"""A body of which nothing comes for so long is not waited for any more."""

JSON_TYPE: Final = "application/json"
UTF_8: Final = frozenset({"utf-8", "utf8"})


def require_json(headers: Mapping[str, str]) -> None:
    """Refuse a body that does not call itself JSON in UTF-8, or that is compressed."""
    media_type, *parameters = (part.strip().lower() for part in headers.get("content-type", "").split(";"))
    charsets = {part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")}
    if media_type != JSON_TYPE or charsets - UTF_8 or headers.get("content-encoding", "identity") != "identity":
        fault = FieldError(
            field="Content-Type", reason="INVALID", message=f"Must be {JSON_TYPE} in UTF-8, without a Content-Encoding"
        )
        raise RequestRefused(ErrorCode.UNSUPPORTED_MEDIA_TYPE, (fault,))


def declared_length(headers: Mapping[str, str]) -> int | None:
    """What the client says it sends; None when it does not say."""
    declared = headers.get("content-length", "")
    return int(declared) if declared.isascii() and declared.isdigit() else None


async def read_json_bytes(headers: Mapping[str, str], chunks: AsyncIterator[bytes]) -> bytes:
    """The bytes of a JSON body; RequestRefused when there are too many, or they are something else."""
    require_json(headers)
    if (declared_length(headers) or 0) > LONGEST_JSON:
        raise _too_large()
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > LONGEST_JSON:
            raise _too_large()
    return bytes(body)


async def in_time(chunks: AsyncIterator[bytes], within: timedelta = PIECE_WITHIN) -> AsyncIterator[bytes]:
    """The pieces of a body while they keep coming; RequestRefused when the next one takes too long.

    The framework ends a body with an empty piece, which means nothing to whoever stores it.
    """
    while True:
        try:
            async with asyncio.timeout(within.total_seconds()):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise invalid("$", "TOO_SLOW", "No more of the body has come for a while") from None
        if chunk is None:
            return
        if chunk:
            yield chunk


def _too_large() -> RequestRefused:
    fault = FieldError(field="$", reason="TOO_LARGE", message=f"The body must not exceed {LONGEST_JSON} bytes")
    return RequestRefused(ErrorCode.REQUEST_TOO_LARGE, (fault,))
