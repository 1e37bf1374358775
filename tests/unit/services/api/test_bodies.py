"""Bodies that come too slowly are not waited for."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from services.api.edge.bodies import in_time
from shared.contracts.errors import RequestRefused


async def test_pieces_that_keep_coming_come_through_without_the_empty_ones() -> None:
    async def body() -> AsyncIterator[bytes]:
        for piece in (b"a", b"", b"b", b""):
            yield piece

    assert [piece async for piece in in_time(body())] == [b"a", b"b"]


async def test_a_body_of_which_no_more_comes_is_refused() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    pieces = in_time(body(), timedelta(milliseconds=10))
    assert await anext(pieces) == b"a"
    with pytest.raises(RequestRefused) as refused:
        await anext(pieces)
    assert [(fault.field, fault.reason) for fault in refused.value.field_errors] == [("$", "TOO_SLOW")]
