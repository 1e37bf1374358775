"""Ends the process when commands wait for it and none arrives: a client can stop receiving without knowing it.

It runs in a thread with a connection of its own, so that a frozen event loop cannot silence it.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

import structlog
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.enums import Step
from shared.messaging.connection import Connection, connect
from shared.messaging.settings import MessagingSettings
from shared.messaging.streams import MAX_ACK_PENDING

log = structlog.get_logger()

WATCHDOG_TRIPPED = 76
"""Exit code of a process that its watchdog ended."""
LOOK_EVERY = timedelta(seconds=1)
JOIN_TIMEOUT = timedelta(seconds=5)


def end_process(step: Step) -> NoReturn:
    """Leave at once; whoever started this process starts it again."""
    log.critical("messaging.watchdog.tripped", step=step.value)
    os._exit(WATCHDOG_TRIPPED)


class Activity:
    """What the slots of this process do. The event loop writes it, the watchdog's thread reads it."""

    def __init__(self, slots: Mapping[Step, int], *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._slots = dict(slots)
        self._busy = dict.fromkeys(slots, 0)
        self._arrived_at = dict.fromkeys(slots, monotonic())
        self._monotonic = monotonic

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that this process takes."""
        return tuple(step for step, slots in self._slots.items() if slots > 0)

    def began(self, step: Step) -> None:
        """A command arrived and takes a slot."""
        self._arrived_at[step] = self._monotonic()
        self._busy[step] += 1

    def ended(self, step: Step) -> None:
        """Its slot is free again."""
        self._busy[step] -= 1

    def is_idle(self, step: Step) -> bool:
        """Whether a slot is free."""
        return self._busy[step] < self._slots[step]

    def arrived_at(self, step: Step) -> float:
        """When the last command arrived."""
        return self._arrived_at[step]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerLook:
    """What the broker says of a step's consumer."""

    pending: int
    """Commands that wait to be delivered."""
    in_hand: int
    """Delivered and not yet acknowledged."""
    is_there: bool = True
    is_paused: bool = False

    @property
    def should_deliver(self) -> bool:
        """True when an idle slot ought to get something, or never will because the consumer is gone."""
        return not self.is_there or (self.pending > 0 and self.in_hand < MAX_ACK_PENDING and not self.is_paused)


class Suspicion:
    """For how long each step has been owed a command without getting one."""

    def __init__(self, activity: Activity, *, patience: timedelta) -> None:
        self._activity = activity
        self._patience = patience.total_seconds()
        self._since: dict[Step, float] = {}

    def is_certain(self, step: Step, look: ConsumerLook, now: float) -> bool:
        """Take in one look; True when a slot was idle, commands waited and none arrived for all of the patience."""
        if not (look.should_deliver and self._activity.is_idle(step)):
            self._since.pop(step, None)
            return False
        since = max(self._since.get(step, now), self._activity.arrived_at(step))
        self._since[step] = since
        return now - since >= self._patience

    def forget(self) -> None:
        """The broker cannot be asked: nothing is known, so nothing is suspicious."""
        self._since.clear()


class Watchdog:
    """Looks at the consumers of this process's steps once a second."""

    def __init__(
        self,
        settings: MessagingSettings,
        activity: Activity,
        *,
        patience: timedelta,
        on_trip: Callable[[Step], object] = end_process,
    ) -> None:
        self._settings = settings
        self._activity = activity
        self._suspicion = Suspicion(activity, patience=patience)
        self._on_trip = on_trip
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching, before a stop of the slots could look like silence."""
        self._is_stopping = True
        if self._loop is not None and self._watching is not None:
            with suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._watching.cancel)  # the client may swallow it: hence the flag
        if self._thread.is_alive():
            self._thread.join(JOIN_TIMEOUT.total_seconds())

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._watch())

    async def _watch(self) -> None:
        self._loop, self._watching = asyncio.get_running_loop(), asyncio.current_task()
        connection = await connect(self._settings, name="watchdog", on_closed=lambda _: None)
        try:
            while not self._is_stopping and not connection.client.is_closed:
                await self._look(connection)
                await asyncio.sleep(LOOK_EVERY.total_seconds())
        finally:
            await connection.close()

    async def _look(self, connection: Connection) -> None:
        for step in self._activity.steps:
            try:
                look = await _look_at(connection, step)
            except (NatsError, TimeoutError, OSError):
                self._suspicion.forget()
                return
            if self._suspicion.is_certain(step, look, time.monotonic()):
                self._on_trip(step)


async def _look_at(connection: Connection, step: Step) -> ConsumerLook:
    try:
        seen = await connection.jetstream.consumer_info(Stream.COMMANDS.value, durable_name(step))
    except NotFoundError:
        return ConsumerLook(pending=0, in_hand=0, is_there=False)
    return ConsumerLook(pending=seen.num_pending or 0, in_hand=seen.num_ack_pending or 0, is_paused=bool(seen.paused))
