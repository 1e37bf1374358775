"""An answer that goes on until its pieces end or the caller hangs up."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from services.api.edge.leaving import unless_gone
from shared.contracts.transition_events import EVENT_STREAM

UNBUFFERED = {"X-Accel-Buffering": "no"}
"""A proxy that gathers pieces would keep events to itself."""


class EventStream(StreamingResponse):
    """Server-sent events. No piece is made before the one before it is on its way to the caller."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], on_end: Callable[[], None]) -> None:
        """`on_end` is called once, however the answer ends."""
        super().__init__(pieces, headers=UNBUFFERED, media_type=EVENT_STREAM)
        self._pieces = pieces
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        try:
            async with aclosing(self._pieces):
                await unless_gone(self.stream_response(send), receive)
        except ClientDisconnect:
            return
        finally:
            self._on_end()
