"""What is said over the pipes, and how it is written down."""

from dataclasses import dataclass

import orjson

from shared.contracts.enums import FailureReason
from shared.providers.embedded.children.framing import Frame, FrameBroken, pack
from shared.providers.embedded.chunks import Chunk
from shared.providers.embedded.digest import TokenisedChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """Read this file."""

    path: str
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesRead:
    """How far the reading is: a hint, in percent."""

    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The file's text and its chunks. `is_worn` says that the parser has grown too large to be kept."""

    text: str
    chunks: tuple[TokenisedChunk, ...]
    is_worn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseFailed:
    """The file cannot be read, and why. `is_worn` as above."""

    reason: FailureReason
    detail: str
    is_worn: bool = False


ParserMessage = PagesRead | Parsed | ParseFailed


def pack_request(request: ParseRequest) -> bytes:
    """A request as a frame."""
    return pack(orjson.dumps(request))


def unpack_request(frame: Frame) -> ParseRequest:
    """Read a request."""
    return ParseRequest(**orjson.loads(frame[0]))


def pack_message(message: ParserMessage) -> bytes:
    """What a parser says as a frame; the text travels as the frame's body."""
    match message:
        case PagesRead(percent=percent):
            return pack(orjson.dumps({"percent": percent}))
        case ParseFailed(reason=reason, detail=detail, is_worn=worn):
            return pack(orjson.dumps({"reason": reason.value, "detail": detail, "worn": worn}))
        case Parsed(text=text, chunks=chunks, is_worn=worn):
            return pack(orjson.dumps({"chunks": _chunk_rows(chunks), "worn": worn}), text.encode())


def unpack_message(frame: Frame) -> ParserMessage:
    """Read what a parser says; FrameBroken if it makes no sense. Long ones take a while: not on an event loop."""
    try:
        header = orjson.loads(frame[0])
        if "percent" in header:
            return PagesRead(percent=int(header["percent"]))
        if "reason" in header:
            reason = FailureReason(header["reason"])
            return ParseFailed(reason=reason, detail=str(header["detail"]), is_worn=bool(header["worn"]))
        return Parsed(text=frame[1].decode(), chunks=tuple(_chunks(header["chunks"])), is_worn=bool(header["worn"]))
    except (ValueError, KeyError, TypeError) as error:
        raise FrameBroken("not a parser's message") from error


_ChunkRow = tuple[int, int, list[str], int | None, int | None, str]


def _chunk_rows(chunks: tuple[TokenisedChunk, ...]) -> list[_ChunkRow]:
    return [(c.start, c.end, list(c.path), c.page_start, c.page_end, e.tokens) for e in chunks for c in (e.chunk,)]


def _chunks(rows: list[_ChunkRow]) -> list[TokenisedChunk]:
    return [
        TokenisedChunk(
            chunk=Chunk(start=start, end=end, path=tuple(path), page_start=page_start, page_end=page_end), tokens=words
        )
        for start, end, path, page_start, page_end, words in rows
    ]
