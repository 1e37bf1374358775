"""The copy of the room in the command stream, and how long the broker has been away."""

from datetime import timedelta

import pytest

from services.api.broker.presence import BrokerDown, BrokerPresence
from services.api.broker.room import Room
from shared.contracts.catalogue import DispatchRoom
from shared.contracts.enums import Step


def test_there_is_no_room_before_anything_was_heard() -> None:
    assert Room(lambda: 0.0).take(Step.UPLOAD) is False


def test_room_is_taken_place_by_place_and_step_by_step() -> None:
    room = Room(lambda: 0.0)
    room.hear(DispatchRoom(room={Step.UPLOAD: 2}))

    assert [room.take(Step.UPLOAD) for _ in range(3)] == [True, True, False]
    assert room.take(Step.INGEST) is False


def test_what_was_heard_holds_for_three_seconds() -> None:
    now = [0.0]
    room = Room(lambda: now[0])
    room.hear(DispatchRoom(room={Step.UPLOAD: 9}))

    now[0] = 3.0
    assert room.take(Step.UPLOAD) is True
    now[0] = 3.1
    assert room.take(Step.UPLOAD) is False


def test_a_new_announcement_replaces_the_old_one() -> None:
    room = Room(lambda: 0.0)
    room.hear(DispatchRoom(room={Step.UPLOAD: 9, Step.INGEST: 1}))
    room.hear(DispatchRoom(room={Step.UPLOAD: 0}))

    assert (room.take(Step.UPLOAD), room.take(Step.INGEST)) == (False, False)


def test_a_broker_is_missed_only_after_a_while() -> None:
    now, is_there = [100.0], [True]
    presence = BrokerPresence(lambda: is_there[0], timedelta(seconds=60), lambda: now[0])
    now[0] = 200.0
    presence.look()
    is_there[0] = False

    now[0] = 260.0
    presence.require()
    now[0] = 260.1
    with pytest.raises(BrokerDown) as refused:
        presence.require()

    assert refused.value.retry_after == timedelta(seconds=5)
    is_there[0] = True
    presence.require()


def test_a_broker_that_was_never_there_is_missed_from_the_start_on() -> None:
    now = [0.0]
    presence = BrokerPresence(lambda: False, timedelta(seconds=60), lambda: now[0])

    presence.require()
    now[0] = 61.0
    with pytest.raises(BrokerDown):
        presence.require()
