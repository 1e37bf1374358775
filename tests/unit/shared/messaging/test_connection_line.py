"""What a process concludes from what its connection goes through."""

import asyncio
from datetime import timedelta

import pytest
from nats.errors import Error as NatsError

from shared.messaging.connection import Line
from shared.messaging.errors import BrokerRefused


def line_of(lost: list[str], *, is_open: bool) -> Line:
    line = Line("worker", lost.append)
    line.is_open = is_open
    return line


async def test_credentials_that_are_refused_at_the_start_are_an_error() -> None:
    lost: list[str] = []
    with pytest.raises(BrokerRefused, match="Authorization Violation"):
        await line_of(lost, is_open=False).failed(NatsError("nats: 'Authorization Violation'"))
    assert lost == []


@pytest.mark.parametrize("reason", ["Authorization Violation", "maximum connections exceeded", "Stale Connection"])
async def test_a_refusal_of_a_connection_that_was_open_ends_the_process(reason: str) -> None:
    lost: list[str] = []
    await line_of(lost, is_open=True).failed(NatsError(f"nats: '{reason}'"))
    assert lost == ["worker"]


async def test_a_broker_that_is_away_is_waited_for() -> None:
    lost: list[str] = []
    await line_of(lost, is_open=True).failed(ConnectionRefusedError("refused"))
    await line_of(lost, is_open=False).failed(NatsError("nats: unexpected EOF"))
    assert lost == []


async def test_nothing_matters_any_more_while_we_close_it() -> None:
    lost: list[str] = []
    line = line_of(lost, is_open=True)
    line.is_ending = True
    await line.failed(NatsError("nats: 'Authorization Violation'"))
    await line.closed()
    assert lost == []


async def test_a_wait_whose_time_is_up_in_the_moment_of_a_break_does_not_keep_the_line_from_coming_back() -> None:
    line, told = line_of([], is_open=True), list[str]()

    async def waits() -> None:
        async with line.answer_within(timedelta(minutes=1)):
            (wait,) = line._waits
            wait._on_timeout()  # type: ignore[attr-defined]
            await line.disconnected()  # nobody has left the wait yet
            told.append("broken")
            await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        await waits()
    assert told == ["broken"]
