"""How sure a worker is that a delivery is still its own."""

from datetime import timedelta

import pytest

from services.worker.heartbeat import Heartbeat, Lease
from services.worker.outcomes import Fenced
from shared.domain.errors import StoreUnavailable
from tests.support.clocks import Seconds


class Beats:
    """A delivery that counts its heartbeats."""

    def __init__(self) -> None:
        self.count = 0

    async def in_progress(self) -> None:
        self.count += 1


class Scene:
    """A heart with an ack_wait of thirty seconds, and a broker that may be away."""

    def __init__(self) -> None:
        self.clock = Seconds()
        self.is_broker_there = True
        self.lost = 0
        self.heart = Heartbeat(self.flush, ack_wait=timedelta(seconds=30), monotonic=self.clock)

    async def flush(self, within: timedelta) -> None:
        assert within <= timedelta(seconds=5)
        if not self.is_broker_there:
            raise StoreUnavailable

    def lose(self) -> None:
        self.lost += 1

    async def ticks(self, after: float) -> None:
        self.clock.now += after
        await self.heart.tick()


async def test_a_heartbeat_is_sent_at_every_third_of_the_wait() -> None:
    scene, delivery = Scene(), Beats()
    with scene.heart.hold(delivery, scene.lose):
        for _ in range(30):
            await scene.ticks(1)
    assert delivery.count == 3


async def test_writes_are_allowed_while_heartbeats_arrive() -> None:
    scene = Scene()
    with scene.heart.hold(Beats(), scene.lose) as lease:
        for _ in range(100):
            await scene.ticks(1)
            lease.check()
    assert scene.lost == 0


async def test_nothing_is_written_after_half_the_wait_without_a_heartbeat_that_arrived() -> None:
    scene = Scene()
    scene.is_broker_there = False
    with scene.heart.hold(Beats(), scene.lose) as lease:
        for _ in range(14):
            await scene.ticks(1)
            lease.check()
        await scene.ticks(1)
        with pytest.raises(Fenced):
            lease.check()


async def test_a_broker_that_is_back_in_time_lets_the_work_go_on() -> None:
    scene = Scene()
    scene.is_broker_there = False
    with scene.heart.hold(Beats(), scene.lose) as lease:
        for _ in range(20):
            await scene.ticks(1)
        scene.is_broker_there = True
        await scene.ticks(1)
        lease.check()
    assert scene.lost == 0


async def test_a_delivery_that_was_not_confirmed_for_the_whole_wait_is_lost_for_good() -> None:
    scene = Scene()
    scene.is_broker_there = False
    with scene.heart.hold(Beats(), scene.lose) as lease:
        for _ in range(30):
            await scene.ticks(1)
        scene.is_broker_there = True
        for _ in range(30):
            await scene.ticks(1)
        with pytest.raises(Fenced):
            lease.check()
    assert scene.lost == 1


async def test_a_process_that_stood_still_does_not_win_its_delivery_back_by_one_heartbeat() -> None:
    scene = Scene()
    with scene.heart.hold(Beats(), scene.lose) as lease:
        await scene.ticks(1)
        await scene.ticks(60)
        with pytest.raises(Fenced):
            lease.check()
    assert scene.lost == 1


async def test_a_delivery_counts_from_when_the_process_was_last_known_to_run() -> None:
    """It may have waited in a socket while the process stood still."""
    scene = Scene()
    await scene.ticks(1)
    scene.clock.now += 20
    with scene.heart.hold(Beats(), scene.lose) as lease, pytest.raises(Fenced):
        lease.check()


async def test_what_was_settled_is_not_kept_alive() -> None:
    scene, delivery = Scene(), Beats()
    with scene.heart.hold(delivery, scene.lose):
        await scene.ticks(10)
    await scene.ticks(10)
    assert delivery.count == 1


def test_a_lease_is_lost_once() -> None:
    clock, lost = Seconds(), list[int]()
    lease = Lease(Beats(), clock.now, ack_wait=30, on_lost=lambda: lost.append(1), clock=clock)
    clock.now += 31
    lease.expire()
    lease.confirm(clock.now)
    assert lost == [1]
    assert lease.is_lost
