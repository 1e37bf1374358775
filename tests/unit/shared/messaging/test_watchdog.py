"""When the watchdog is sure that commands wait for this process and none arrives."""

from datetime import timedelta

import pytest

from shared.contracts.enums import Step
from shared.messaging.streams import MAX_ACK_PENDING
from shared.messaging.watchdog import Activity, ConsumerLook, Suspicion

WAITING = ConsumerLook(pending=5, in_hand=0)
NOTHING = ConsumerLook(pending=0, in_hand=0)


class Scene:
    """One slot for ingests, and a watchdog with a patience of ten seconds."""

    def __init__(self, slots: int = 1) -> None:
        self.now = 1000.0
        self.activity = Activity({Step.INGEST: slots}, monotonic=lambda: self.now)
        self.suspicion = Suspicion(self.activity, patience=timedelta(seconds=10))

    def looks(self, look: ConsumerLook, after: float) -> bool:
        self.now += after
        return self.suspicion.is_certain(Step.INGEST, look, self.now)


def test_commands_that_wait_for_an_idle_slot_trip_it_after_its_patience() -> None:
    scene = Scene()
    assert not scene.looks(WAITING, after=0)
    assert not scene.looks(WAITING, after=9)
    assert scene.looks(WAITING, after=1)


def test_a_long_quiet_time_does_not_count() -> None:
    scene = Scene()
    assert not scene.looks(NOTHING, after=3600)
    assert not scene.looks(WAITING, after=1)
    assert not scene.looks(WAITING, after=9)


def test_a_command_that_arrives_begins_the_time_anew() -> None:
    scene = Scene(slots=2)
    scene.looks(WAITING, after=0)
    scene.now += 8
    scene.activity.began(Step.INGEST)
    assert not scene.looks(WAITING, after=3)
    assert scene.looks(WAITING, after=7)


def test_it_never_trips_while_every_slot_is_busy() -> None:
    scene = Scene()
    scene.activity.began(Step.INGEST)
    assert not scene.looks(WAITING, after=0)
    assert not scene.looks(WAITING, after=3600)
    scene.activity.ended(Step.INGEST)
    assert not scene.looks(WAITING, after=1)


@pytest.mark.parametrize(
    "look",
    [
        ConsumerLook(pending=5, in_hand=MAX_ACK_PENDING),
        ConsumerLook(pending=5, in_hand=0, is_paused=True),
        ConsumerLook(pending=0, in_hand=7),
    ],
)
def test_what_the_broker_may_not_deliver_does_not_count(look: ConsumerLook) -> None:
    scene = Scene()
    scene.looks(look, after=0)
    assert not scene.looks(look, after=3600)


def test_a_consumer_that_is_gone_counts_as_waiting() -> None:
    scene, gone = Scene(), ConsumerLook(pending=0, in_hand=0, is_there=False)
    scene.looks(gone, after=0)
    assert scene.looks(gone, after=10)


def test_a_broker_that_cannot_be_asked_begins_the_time_anew() -> None:
    scene = Scene()
    scene.looks(WAITING, after=0)
    scene.now += 30
    scene.suspicion.forget()
    assert not scene.looks(WAITING, after=0)
    assert scene.looks(WAITING, after=10)


def test_only_steps_with_slots_are_watched() -> None:
    assert Activity({Step.INGEST: 2, Step.PURGE: 0}).steps == (Step.INGEST,)
