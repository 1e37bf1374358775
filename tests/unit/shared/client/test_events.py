"""Events are read as they come, and a stream that ends or breaks off is taken up behind the last of them."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from shared.client.errors import BrokenAnswer, Refused
from shared.client.events import Events
from shared.contracts.transition_events import TransitionEvent
from shared.domain.errors import Transient
from tests.unit.shared.client.answering import ScriptedGateway, refusal

OPENING = b"retry: 500\nid: 4\n\n"


def event(seq: int) -> bytes:
    data = (
        f'{{"seq":{seq},"at":"2026-03-01T12:00:00.000Z","action":"document.active","resourceType":"DOCUMENT",'
        f'"resourceId":"doc_1","before":"CREATING","after":"ACTIVE"}}'
    )
    return f"id: {seq}\nevent: document.active\ndata: {data}\n\n".encode()


def stream(*pieces: bytes, breaks: bool = False) -> httpx.Response:
    async def content() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        if breaks:
            raise httpx.ReadError("reset")

    return httpx.Response(200, headers={"Content-Type": "text/event-stream; charset=utf-8"}, content=content())


async def first(
    scripted: ScriptedGateway, number: int, after: int | None = None, missed: list[Transient] | None = None
) -> list[TransitionEvent]:
    """So many events; then whoever asks has had enough."""
    had: list[TransitionEvent] = []
    events = Events(scripted.exchange(), pause=scripted._pause)
    async with aclosing(events.follow(after, missed=None if missed is None else missed.append)) as following:
        async for one in following:
            had.append(one)
            if len(had) == number:
                break
    return had


def places(scripted: ScriptedGateway) -> list[str | None]:
    return [request.headers.get("Last-Event-ID") for request in scripted.asked]


async def test_events_are_read_in_whatever_pieces_they_come() -> None:
    whole = OPENING + event(5) + b": keep-alive\n\n" + event(7)
    scripted = ScriptedGateway([stream(*(whole[at : at + 9] for at in range(0, len(whole), 9)))])

    had = await first(scripted, 2)

    assert [(one.seq, one.name, one.resource_id) for one in had] == [
        (5, "document.active", "doc_1"),
        (7, "document.active", "doc_1"),
    ]
    assert places(scripted) == [None]
    assert scripted.asked[0].headers["Accept"] == "text/event-stream"


async def test_a_stream_that_ends_is_taken_up_behind_the_last_event_with_fresh_credentials() -> None:
    scripted = ScriptedGateway([stream(OPENING, event(5)), stream(OPENING, event(6))])

    assert [one.seq for one in await first(scripted, 2)] == [5, 6]

    assert places(scripted) == [None, "5"]
    assert scripted.pauses == [0.5]
    assert scripted.assertions == 2


@pytest.mark.parametrize("began", [0, 4])
async def test_a_connection_that_is_lost_before_the_first_event_is_taken_up_where_it_began(began: int) -> None:
    missed: list[Transient] = []
    opening = b"retry: 500\nid: %d\n\n" % began
    scripted = ScriptedGateway([stream(opening, breaks=True), stream(opening, event(5))])

    assert [one.seq for one in await first(scripted, 1, missed=missed)] == [5]

    assert places(scripted) == [None, str(began)]
    assert len(missed) == 1


async def test_an_event_that_is_cut_off_comes_again() -> None:
    scripted = ScriptedGateway([stream(OPENING, event(5), event(6)[:-9], breaks=True), stream(OPENING, event(6))])

    assert [one.seq for one in await first(scripted, 2)] == [5, 6]
    assert places(scripted) == [None, "5"]


async def test_a_gateway_that_is_away_or_has_no_room_is_asked_again() -> None:
    missed: list[Transient] = []
    scripted = ScriptedGateway(
        [
            httpx.ConnectError("refused"),
            refusal(503, "PROVIDER_UNAVAILABLE", retryable=True, headers={"Retry-After": "5"}),
            stream(OPENING, event(9)),
        ]
    )

    assert [one.seq for one in await first(scripted, 1, after=8, missed=missed)] == [9]

    assert places(scripted) == ["8", "8", "8"]
    assert scripted.pauses == [2.0, 5.0]
    assert len(missed) == 2


async def test_a_refusal_ends_it() -> None:
    scripted = ScriptedGateway([stream(OPENING, event(5)), refusal(401, "KNOWLEDGE_UNAUTHENTICATED")])

    with pytest.raises(Refused):
        await first(scripted, 2)


async def test_an_event_that_is_none_ends_it() -> None:
    scripted = ScriptedGateway([stream(OPENING, b'id: 5\nevent: x\ndata: {"seq": 5}\n\n')])

    with pytest.raises(BrokenAnswer):
        await first(scripted, 1)
