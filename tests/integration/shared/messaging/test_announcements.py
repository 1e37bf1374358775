"""Announcements and cancellations on a real server."""

from datetime import timedelta

import pytest

from shared.contracts.catalogue import SLOTS_SUBJECT, DispatchRoom, WorkerHands, WorkerSlots
from shared.contracts.enums import Step
from shared.contracts.ids import OperationId
from shared.domain.errors import StoreUnavailable
from shared.messaging.announcements import (
    HandBoard,
    SlotBoard,
    announce_hands,
    announce_room,
    announce_slots,
    listen_for_hands,
    listen_for_room,
    listen_for_slots,
)
from shared.messaging.cancellations import Cancellations
from tests.support.eventually import until
from tests.support.messaging import connected, messaging_settings

SOON = timedelta(seconds=5)


async def test_slots_are_heard_and_what_is_no_announcement_is_passed_over(nats_url: str) -> None:
    board = SlotBoard()
    async with connected(messaging_settings(nats_url)) as connection:
        await listen_for_slots(connection, board.hear)
        await connection.client.publish(SLOTS_SUBJECT, b"nonsense")
        await announce_slots(connection, WorkerSlots(worker_id="one", slots={Step.PURGE_FILE: 2}))
        await until(lambda: board.workers == 1, within=SOON)
    assert board.slots()[Step.PURGE_FILE] == 2


async def test_hands_are_heard_on_a_connection_that_tells_how_long_it_has_been_there(nats_url: str) -> None:
    board = HandBoard()
    async with connected(messaging_settings(nats_url)) as connection:
        await listen_for_hands(connection, board.hear)
        await announce_hands(connection, WorkerHands(worker_id="one", commands=("op_1.ingest.1.1",)))
        await until(lambda: board.hands() == {"op_1.ingest.1.1": "one"}, within=SOON)
        assert connection.connected_for > timedelta(0)
    assert connection.connected_for == timedelta(0)


async def test_room_is_heard(nats_url: str) -> None:
    heard: list[DispatchRoom] = []
    async with connected(messaging_settings(nats_url)) as connection:
        await listen_for_room(connection, heard.append)
        await announce_room(connection, DispatchRoom(room={Step.INGEST: 7}))
        await until(lambda: len(heard) == 1, within=SOON)
    assert heard == [DispatchRoom(room={Step.INGEST: 7})]


async def test_a_cancellation_is_heard_by_those_who_listen_and_found_by_those_who_ask_later(nats_url: str) -> None:
    heard: list[OperationId] = []
    async with connected(messaging_settings(nats_url)) as connection:
        await Cancellations(connection).listen(heard.append)
        await Cancellations(connection).announce(OperationId("op_1"))
        await until(lambda: len(heard) == 1, within=SOON)
        assert heard == ["op_1"]
        assert await Cancellations(connection).known() == {"op_1"}


async def test_nothing_is_known_before_anything_was_said(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        assert await Cancellations(connection).known() == frozenset()


async def test_a_lookup_without_the_bucket_is_an_error_and_not_a_no(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        await connection.jetstream.delete_key_value("knowgate_cancelled")
        with pytest.raises(StoreUnavailable):
            await Cancellations(connection).known()
