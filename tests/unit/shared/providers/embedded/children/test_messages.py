import asyncio
import io

import pytest

from shared.contracts.enums import FailureReason
from shared.providers.embedded.children.framing import MAX_PART_BYTES, FrameBroken, pack, read_frame, receive_frame
from shared.providers.embedded.children.messages import (
    PagesRead,
    Parsed,
    ParseFailed,
    ParseRequest,
    ParserMessage,
    pack_message,
    pack_request,
    unpack_message,
    unpack_request,
)
from shared.providers.embedded.chunks import Chunk
from shared.providers.embedded.digest import TokenisedChunk

CHUNK = Chunk(start=0, end=2, path=("章", "Part"), page_start=1, page_end=None)


async def through_a_pipe(content: bytes) -> tuple[bytes, bytes]:
    reader = asyncio.StreamReader()
    reader.feed_data(content)
    reader.feed_eof()
    return await receive_frame(reader)


@pytest.mark.parametrize(
    "message",
    [
        PagesRead(percent=40),
        ParseFailed(reason=FailureReason.FILE_CORRUPT, detail="BadZipFile", is_worn=True),
        Parsed(text="文𠀀", chunks=(TokenisedChunk(chunk=CHUNK, tokens="章 part 文"),)),
    ],
)
async def test_what_a_parser_says_arrives_as_it_was(message: ParserMessage) -> None:
    assert unpack_message(await through_a_pipe(pack_message(message))) == message


def test_a_request_arrives_as_it_was() -> None:
    request = ParseRequest(path="/tmp/ü.pdf", content_type="application/pdf")
    frame = read_frame(io.BytesIO(pack_request(request)))

    assert frame is not None
    assert unpack_request(frame) == request


def test_a_closed_pipe_is_the_end() -> None:
    assert read_frame(io.BytesIO(b"")) is None


@pytest.mark.parametrize("content", [b"", b"\x01", pack(b"{}")[:-1]])
async def test_a_child_that_ends_in_mid_word_broke_the_frame(content: bytes) -> None:
    with pytest.raises(FrameBroken):
        await through_a_pipe(content)


async def test_a_frame_beyond_the_limit_is_not_awaited() -> None:
    with pytest.raises(FrameBroken):
        await through_a_pipe((MAX_PART_BYTES + 1).to_bytes(4, "little") * 2)


@pytest.mark.parametrize("header", [b"", b"[]", b"{}", b'{"reason": "NONSENSE", "detail": "", "worn": false}'])
def test_nonsense_from_a_child_is_a_broken_frame(header: bytes) -> None:
    with pytest.raises(FrameBroken):
        unpack_message((header, b""))
