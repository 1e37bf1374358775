"""Work for a caller goes on as long as the caller is there."""

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from services.api.edge.leaving import unless_gone


class Connection:
    """What comes over a connection: a body, and a hang-up once it is set."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.is_listened_to = asyncio.Event()
        self.listening = 0
        self._body: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive(self) -> Message:
        if self._body:
            return self._body.pop()
        self.listening += 1
        self.is_listened_to.set()
        try:
            await self.gone.wait()
        finally:
            self.listening -= 1
        return {"type": "http.disconnect"}


async def test_work_that_ends_first_gives_its_result_and_nobody_listens_any_more() -> None:
    connection = Connection()

    async def work() -> str:
        await connection.is_listened_to.wait()
        return "done"

    assert await unless_gone(work(), connection.receive) == "done"
    assert connection.listening == 0


async def test_what_the_work_raises_is_raised() -> None:
    async def work() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await unless_gone(work(), Connection().receive)


async def test_work_is_cancelled_when_the_caller_hangs_up() -> None:
    connection = Connection()
    ended: list[str] = []

    async def work() -> None:
        try:
            connection.gone.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(ClientDisconnect):
        await unless_gone(work(), connection.receive)
    assert ended == ["cancelled"]


async def test_whoever_is_cancelled_takes_the_work_along() -> None:
    ended: list[str] = []
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    waiting = asyncio.create_task(unless_gone(work(), Connection().receive))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["work"]
