"""Waiting for rows to change: one loop reads what all waiting requests wait for, and nothing while none does."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Generic, TypeVar

import structlog

from shared.domain.errors import Transient

log = structlog.get_logger()

Seen = TypeVar("Seen")

Look = Callable[[Collection[str]], Awaitable[Mapping[str, Seen]]]
"""Reads what the keys are like now, all in one statement; a key of which there is nothing to tell is left out."""

EASING: Final = 1.25
"""From one look to the next the pause grows by this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often is looked: after `shortest` when somebody has begun to wait, then rarer and rarer."""

    shortest: timedelta = timedelta(milliseconds=50)
    longest: timedelta = timedelta(milliseconds=200)

    def after(self, pause: timedelta) -> timedelta:
        """The pause that follows one while nobody new comes."""
        return min(pause * EASING, self.longest)


USUAL_PACE: Final = Pace()


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter(Generic[Seen]):
    is_it: Callable[[Seen], bool]
    result: asyncio.Future[Seen | None]

    def end(self, seen: Seen | None) -> None:
        if not self.result.done():
            self.result.set_result(seen)


class Watch(Generic[Seen]):
    """One process's watch over rows of one kind. `run` it as a task; `stop` it and nobody waits any longer."""

    def __init__(self, name: str, look: Look[Seen], *, most: int, pace: Pace = USUAL_PACE) -> None:
        """At most `most` wait at once; `name` is what its log lines call it."""
        self._name = name
        self._look = look
        self._most = most
        self._pace = pace
        self._pause = pace.shortest
        self._waiters: dict[str, set[_Waiter[Seen]]] = {}
        self._waiting = 0
        self._is_stopping = False
        self._wanted = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self._waiting

    @property
    def is_stopping(self) -> bool:
        """Whether it has been stopped."""
        return self._is_stopping

    async def wait(self, key: str, is_it: Callable[[Seen], bool], within: timedelta) -> Seen | None:
        """What the key is like as soon as `is_it` holds of that; None when time is up, in a stop, or without a place.

        Whoever is cancelled leaves their place at once.
        """
        if self._is_stopping or self._waiting >= self._most:
            return None
        waiter = _Waiter(is_it, asyncio.get_running_loop().create_future())
        self._enter(key, waiter)
        try:
            async with asyncio.timeout(within.total_seconds()):
                return await waiter.result
        except TimeoutError:
            return None
        finally:
            self._leave(key, waiter)

    async def run(self) -> None:
        """Look until stopped. What cannot be read now is read later."""
        since = timedelta(0)
        while not self._is_stopping:
            await self._wanted.wait()
            await asyncio.sleep(self._pace.shortest.total_seconds())
            since += self._pace.shortest
            if self._waiters and since >= self._pause:
                since = timedelta(0)
                self._pause = self._pace.after(self._pause)
                await self._look_once()

    def stop(self) -> None:
        """Send everybody away who waits, and whoever comes after."""
        self._is_stopping = True
        self._wanted.set()
        for waiters in self._waiters.values():
            for waiter in waiters:
                waiter.end(None)

    async def _look_once(self) -> None:
        try:
            found = await self._look(tuple(self._waiters))
        except Transient as error:
            log.warning("api.watch.failed", watch=self._name, waiting=self._waiting, error=error.message)
            return
        for key, seen in found.items():
            for waiter in self._waiters.get(key, ()):
                if waiter.is_it(seen):
                    waiter.end(seen)

    def _enter(self, key: str, waiter: _Waiter[Seen]) -> None:
        self._waiters.setdefault(key, set()).add(waiter)
        self._waiting += 1
        self._pause = self._pace.shortest
        self._wanted.set()

    def _leave(self, key: str, waiter: _Waiter[Seen]) -> None:
        self._waiting -= 1
        self._waiters[key].discard(waiter)
        if not self._waiters[key]:
            del self._waiters[key]
        if not self._waiters and not self._is_stopping:
            self._wanted.clear()
