"""One loop looks for all who wait, only while somebody waits, and sends everybody away in a stop."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog

from services.api.watching import Pace, Watch
from shared.domain.errors import StoreUnavailable
from tests.support.eventually import until

AT_ONCE = Pace(shortest=timedelta(0), longest=timedelta(0))
LONG = timedelta(seconds=30)


class Rows:
    """What is looked at."""

    def __init__(self) -> None:
        self.state: dict[str, int] = {}
        self.looks: list[frozenset[str]] = []
        self.is_away = False

    async def look(self, keys: Collection[str]) -> Mapping[str, int]:
        self.looks.append(frozenset(keys))
        if self.is_away:
            raise StoreUnavailable
        return {key: self.state[key] for key in keys if key in self.state}


def watch_over(rows: Rows, most: int = 10) -> Watch[int]:
    return Watch("rows", rows.look, most=most, pace=AT_ONCE)


@asynccontextmanager
async def running(watch: Watch[int]) -> AsyncIterator[None]:
    task = asyncio.create_task(watch.run())
    yield
    watch.stop()
    await task


def is_three(seen: int) -> bool:
    return seen >= 3


async def a_while() -> None:
    """Long enough for a loop without pauses to go round many times."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_whoever_waits_is_told_as_soon_as_it_holds() -> None:
    rows = Rows()
    watch = watch_over(rows)
    async with running(watch):
        waiting = asyncio.create_task(watch.wait("a", is_three, LONG))
        for value in (1, 2):
            rows.state["a"] = value
            looks = len(rows.looks)
            await until(lambda seen=looks: len(rows.looks) > seen + 1)  # type: ignore[misc]
            assert not waiting.done()
        rows.state["a"] = 3

        assert await waiting == 3


async def test_one_look_is_for_all_keys_and_all_who_wait() -> None:
    rows = Rows()
    watch = watch_over(rows)
    async with running(watch):
        waiting = [asyncio.create_task(watch.wait(key, is_three, LONG)) for key in ("a", "a", "b")]
        await until(lambda: frozenset({"a", "b"}) in rows.looks)
        rows.state |= {"a": 3, "b": 4}

        assert await asyncio.gather(*waiting) == [3, 3, 4]


async def test_nothing_is_read_while_nobody_waits() -> None:
    rows = Rows()
    watch = watch_over(rows)
    async with running(watch):
        await a_while()
        assert rows.looks == []

        waiting = asyncio.create_task(watch.wait("a", is_three, LONG))
        await until(lambda: bool(rows.looks))
        waiting.cancel()
        await asyncio.wait({waiting})
        looks = len(rows.looks)
        await a_while()

        assert len(rows.looks) <= looks + 1, "the look that was under way is the last one"
        assert watch.waiting == 0


async def test_time_runs_out_without_a_result() -> None:
    watch = watch_over(Rows())
    async with running(watch):
        assert await watch.wait("a", is_three, timedelta(milliseconds=1)) is None
        assert watch.waiting == 0


async def test_beyond_the_limit_nobody_waits() -> None:
    watch = watch_over(Rows(), most=1)
    async with running(watch):
        first = asyncio.create_task(watch.wait("a", is_three, LONG))
        await until(lambda: watch.waiting == 1)

        async with asyncio.timeout(5):
            assert await watch.wait("a", is_three, LONG) is None

        first.cancel()
        await asyncio.wait({first})
        assert watch.waiting == 0


async def test_a_stop_sends_everybody_away_and_whoever_comes_after() -> None:
    watch = watch_over(Rows())
    async with running(watch):
        waiting = asyncio.create_task(watch.wait("a", is_three, LONG))
        await until(lambda: watch.waiting == 1)

        watch.stop()

        async with asyncio.timeout(5):
            assert await waiting is None
            assert await watch.wait("a", is_three, LONG) is None


async def test_what_cannot_be_read_now_is_read_later() -> None:
    rows = Rows()
    rows.state["a"] = 3
    rows.is_away = True
    watch = watch_over(rows)
    with structlog.testing.capture_logs() as logs:
        async with running(watch):
            waiting = asyncio.create_task(watch.wait("a", is_three, LONG))
            await until(lambda: len(rows.looks) > 2)
            rows.is_away = False

            assert await waiting == 3
    assert {log["event"] for log in logs} == {"api.watch.failed"}


def test_looks_become_rarer_up_to_the_longest_pause() -> None:
    pace = Pace(shortest=timedelta(milliseconds=64), longest=timedelta(milliseconds=120))

    assert pace.after(timedelta(milliseconds=64)) == timedelta(milliseconds=80)
    assert pace.after(timedelta(milliseconds=80)) == timedelta(milliseconds=100)
    assert pace.after(timedelta(milliseconds=100)) == timedelta(milliseconds=120)


async def test_looks_are_frequent_again_for_whoever_comes() -> None:
    watch = Watch("rows", Rows().look, most=10)
    watch._pause = timedelta(milliseconds=200)

    waiting = asyncio.create_task(watch.wait("a", is_three, LONG))
    await asyncio.sleep(0)

    assert watch._pause == timedelta(milliseconds=50)
    watch.stop()
    assert await waiting is None
