"""What arrives is stored in parts, and what has arrived before a body fails is stored too."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from starlette.requests import ClientDisconnect

from services.api.edge.bodies import in_time
from services.api.uploads.arriving import Arriving
from services.api.uploads.protocol import Checksum
from shared.contracts.errors import RequestRefused
from shared.files.errors import FileTooLarge
from shared.files.store import FileStore
from tests.support.streams import collect, stream


@pytest.fixture
def store() -> FileStore:
    return FileStore.open("memory:///")


async def cut_after(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    raise ClientDisconnect


def arriving(chunks: AsyncIterator[bytes], room: int = 100, checksum: Checksum | None = None) -> Arriving:
    return Arriving(chunks, room=room, length=room, checksum=checksum, part_bytes=4)


async def contents(store: FileStore, body: Arriving) -> list[bytes]:
    return [await collect(store.get_stream(piece.object_key)) async for piece in body.stored(store)]


async def test_a_part_ends_when_it_is_long_enough(store: FileStore) -> None:
    body = arriving(stream(b"abc", b"def", b"g", b"h", b"i"))

    assert await contents(store, body) == [b"abcdef", b"ghi"]
    assert body.failure is None


async def test_a_body_of_nothing_stores_nothing(store: FileStore) -> None:
    assert await contents(store, arriving(stream())) == []


async def test_what_came_before_the_connection_was_lost_is_stored(store: FileStore) -> None:
    body = arriving(cut_after(b"abcd", b"ef"))

    assert await contents(store, body) == [b"abcd", b"ef"]
    assert isinstance(body.failure, ClientDisconnect)


async def test_what_came_before_the_body_stalled_is_stored(store: FileStore) -> None:
    async def stalling() -> AsyncIterator[bytes]:
        yield b"abcd"
        yield b"ef"
        await asyncio.Event().wait()

    body = arriving(in_time(stalling(), timedelta(milliseconds=10)))

    assert await contents(store, body) == [b"abcd", b"ef"]
    assert isinstance(body.failure, RequestRefused)


async def test_a_connection_that_is_lost_at_once_stores_nothing(store: FileStore) -> None:
    body = arriving(cut_after())

    assert await contents(store, body) == []
    assert isinstance(body.failure, ClientDisconnect)


async def test_the_part_that_goes_too_far_is_not_kept_and_those_before_it_are(store: FileStore) -> None:
    pieces = arriving(stream(b"abcd", b"ef", b"gh"), room=7).stored(store)
    first = await anext(pieces)

    with pytest.raises(FileTooLarge):
        await anext(pieces)

    assert [found.key async for found in store.list()] == [first.object_key]


@pytest.mark.parametrize(("announced", "is_right"), [(b"abcdef", True), (b"abcdeX", False)])
async def test_a_body_is_held_against_its_checksum(store: FileStore, announced: bytes, *, is_right: bool) -> None:
    body = arriving(stream(b"abc", b"def"), checksum=Checksum("sha256", hashlib.sha256(announced).digest()))

    await contents(store, body)

    assert body.is_as_announced() is is_right
