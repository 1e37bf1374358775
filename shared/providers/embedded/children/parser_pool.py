"""Parsers kept running: each reads one file at a time, and whatever a file does to its parser happens to it alone."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from shared.contracts.enums import FailureReason
from shared.providers.embedded.children.child import Child
from shared.providers.embedded.children.framing import FrameBroken
from shared.providers.embedded.children.messages import (
    PagesRead,
    Parsed,
    ParseFailed,
    ParseRequest,
    pack_request,
    unpack_message,
)
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.limits import DigestLimits

MODULE = "shared.providers.embedded.children.parser_child"
SERVED_AT_MOST = 200
"""Files after which a parser is replaced: libraries leak."""

_SHORT_FRAME_BYTES = 64 * 1024


class ParserPool:
    """Up to `size` parsers, started when they are first needed."""

    def __init__(self, *, size: int, limits: DigestLimits, served_at_most: int = SERVED_AT_MOST) -> None:
        self._limits = limits
        self._served_at_most = served_at_most
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Child] = []
        self._children: set[Child] = set()

    async def parse(self, path: Path, content_type: str, on_percent: Callable[[int], None]) -> Parsed:
        """Read a file; raises DigestFailed. A cancelled call kills its parser."""
        async with self._slots:
            child = await self._take()
            is_healthy = False
            try:
                async with asyncio.timeout(self._limits.time.total_seconds()):
                    answer = await self._ask(child, path, content_type, on_percent)
                is_healthy = not answer.is_worn
            except TimeoutError as error:
                raise DigestFailed(FailureReason.FILE_TOO_COMPLEX, "out of time") from error
            except FrameBroken as error:
                starved = await child.ran_out_of_memory()
                reason = FailureReason.FILE_TOO_COMPLEX if starved else FailureReason.PARSER_CRASHED
                raise DigestFailed(reason, str(error)) from error
            finally:
                await self._give_back(child, is_healthy=is_healthy)
        if isinstance(answer, ParseFailed):
            raise DigestFailed(answer.reason, answer.detail)
        return answer

    async def _ask(
        self, child: Child, path: Path, content_type: str, on_percent: Callable[[int], None]
    ) -> Parsed | ParseFailed:
        await child.send(pack_request(ParseRequest(path=str(path), content_type=content_type)))
        while True:
            frame = await child.receive()
            is_short = sum(map(len, frame)) < _SHORT_FRAME_BYTES
            message = unpack_message(frame) if is_short else await asyncio.to_thread(unpack_message, frame)
            if not isinstance(message, PagesRead):
                return message
            on_percent(message.percent)

    async def _take(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.is_running:
                return child
            await self._end(child)
        limits = self._limits
        child = await Child.start(MODULE, (limits.memory_bytes, limits.text_characters, limits.chunks))
        self._children.add(child)
        return child

    async def _give_back(self, child: Child, *, is_healthy: bool) -> None:
        child.served += 1
        if is_healthy and child.served < self._served_at_most:
            self._idle.append(child)
        else:
            await self._end(child)

    async def _end(self, child: Child) -> None:
        self._children.discard(child)
        await child.kill()

    async def close(self) -> None:
        """Kill every parser; files that are being read fail."""
        self._idle.clear()
        for child in list(self._children):
            await self._end(child)
