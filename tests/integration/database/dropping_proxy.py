"""Stands between a client and its PostgreSQL server, and hangs up at the worst moment: after a commit, unanswered."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

PIECE = 65536


class DroppingProxy:
    """Passes everything on, until it is told what answer to swallow."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._after = self._statement = b""
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self.dropped = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def drop_answer_to(self, statement: bytes, *, after: bytes) -> None:
        """Hang up instead of passing on the answer to the next such statement of a connection that has said `after`."""
        self._statement, self._after = statement, after

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        there_reader, there = await asyncio.open_connection(self._host, self._port)
        back = asyncio.create_task(_pass_on(there_reader, writer))
        try:
            await self._pass_there(reader, there, back)
        finally:
            back.cancel()
            await asyncio.gather(back, return_exceptions=True)
            for one in (there, writer):
                one.close()
                with suppress(OSError):
                    await one.wait_closed()
            self._talks.discard(talk)

    async def _pass_there(
        self, reader: asyncio.StreamReader, there: asyncio.StreamWriter, back: "asyncio.Task[None]"
    ) -> None:
        has_said = False
        while piece := await reader.read(PIECE):
            has_said = has_said or (bool(self._after) and self._after in piece)
            is_it = has_said and self._statement in piece
            if is_it:
                back.cancel()
                await asyncio.gather(back, return_exceptions=True)
            there.write(piece)
            await there.drain()
            if is_it:
                self._after = b""
                self.dropped += 1
                await asyncio.sleep(0.5)  # the server is given time to commit, and nobody to hear of it
                return


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
        writer.close()
