"""The gateway's events as they happen, across lost connections without a gap or a repeat."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import anyio
import httpx
from pydantic import ValidationError

from shared.client.errors import BrokenAnswer
from shared.client.exchange import Exchange, Pause
from shared.contracts.transition_events import EVENT_STREAM, EVENTS_FOLLOW, LAST_EVENT_ID, TransitionEvent
from shared.domain.errors import Transient

SILENT_FOR: Final = 45.0
"""Seconds: three signs of life that did not come mean that the connection is dead."""
USUAL_RETRY: Final = timedelta(seconds=2)
WHAT: Final = f"{EVENTS_FOLLOW.method} {EVENTS_FOLLOW.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What stands between two empty lines of a stream."""

    id: int | None = None
    data: str | None = None
    retry: timedelta | None = None


class Events:
    """Follows what happens, in one caller's name."""

    def __init__(self, exchange: Exchange, *, pause: Pause = anyio.sleep) -> None:
        self._exchange = exchange
        self._pause = pause

    async def follow(
        self, after: int | None = None, *, missed: Callable[[Transient], None] | None = None
    ) -> AsyncGenerator[TransitionEvent, None]:
        """Every event behind `after`, or from now on; it goes on until whoever asks has had enough.

        A stream that ends or breaks off is taken up again with fresh credentials behind the last event; `missed` is
        told of every try that failed. Raises what does not pass by itself: `Refused`, `BrokenAnswer`.
        """
        retry = USUAL_RETRY
        while True:
            try:
                async with aclosing(self._blocks(after)) as blocks:
                    async for block in blocks:
                        retry = block.retry or retry
                        after = after if block.id is None else block.id
                        if block.data is not None:
                            yield _event(block.data)
            except Transient as error:
                if missed is not None:
                    missed(error)
                await self._pause((error.retry_after or retry).total_seconds())
            else:
                await self._pause(retry.total_seconds())

    async def _blocks(self, after: int | None) -> AsyncGenerator[Block, None]:
        """One connection's blocks, from its opening to its end."""
        headers = self._exchange.call_headers() | {"Accept": EVENT_STREAM}
        if after is not None:
            headers[LAST_EVENT_ID] = str(after)
        timeout = httpx.Timeout(self._exchange.http.timeout.connect, read=SILENT_FOR)
        request = self._exchange.http.build_request(
            EVENTS_FOLLOW.method, EVENTS_FOLLOW.path, headers=headers, timeout=timeout
        )
        answer = self._exchange.pieces(request, EVENTS_FOLLOW.success_status, WHAT, as_caller=True)
        async with aclosing(answer) as pieces:
            async for block in _read_blocks(pieces):
                yield block


async def _read_blocks(pieces: AsyncIterator[bytes]) -> AsyncIterator[Block]:
    """The blocks of a stream. One that is cut off by its end is none: it comes again after the next connection."""
    waiting = b""
    async for piece in pieces:
        *whole, waiting = (waiting + piece).split(b"\n\n")
        for block in whole:
            yield _read_block(block.decode())


def _read_block(text: str) -> Block:
    """A line without a name is a comment."""
    fields = dict(line.split(": ", 1) for line in text.split("\n") if not line.startswith(":") and ": " in line)
    retry = fields.get("retry", "")
    place = fields.get("id", "")
    return Block(
        id=int(place) if place.isdecimal() else None,
        data=fields.get("data"),
        retry=timedelta(milliseconds=int(retry)) if retry.isdecimal() else None,
    )


def _event(data: str) -> TransitionEvent:
    try:
        return TransitionEvent.model_validate_json(data, by_alias=True, by_name=False)
    except ValidationError:
        raise BrokenAnswer(WHAT, "an event is not one") from None
