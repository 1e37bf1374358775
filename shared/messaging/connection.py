"""Connections to the broker: one set of safe options, for a client of our own and for FastStream's broker.

A connection reconnects for ever. If it closes although nobody closed it, it can never work again, so the process ends
with a clear log event and is restarted. Nothing opens at import.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, NoReturn

import structlog
from faststream import AckPolicy
from faststream.nats import NatsBroker
from faststream.nats.security import NatsToken, NatsUserPassword
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from shared.domain.errors import StoreUnavailable
from shared.messaging.errors import BrokerRefused
from shared.messaging.reply_inbox import ReplyInbox
from shared.messaging.settings import Login, MessagingSettings

log = structlog.get_logger()

CONNECTION_LOST = 75
"""Exit code of a process whose connection closed for good (EX_TEMPFAIL: start it again)."""
CLOSE_TIMEOUT = timedelta(seconds=2)
PING_INTERVAL = timedelta(seconds=10)
"""A peer that has vanished without a word is noticed after two of these."""
POLL = timedelta(milliseconds=20)
SAME_ERROR_EVERY = timedelta(seconds=30)

UNRECOVERABLE = (
    "authorization violation",
    "authorization timeout",
    "invalid client protocol",
    "maximum payload violation",
    "invalid subject",
    "stale connection",
    "maximum connections exceeded",
    "parser error",
    "secure connection - tls required",
)
"""FastStream gives up reconnecting when the server says one of these, and tells nobody."""


def end_process(name: str) -> NoReturn:
    """Leave at once: after this no await of the client can be trusted to return."""
    log.critical("messaging.connection.closed", connection=name)
    logging.shutdown()
    os._exit(CONNECTION_LOST)


class Line:
    """What has happened to one connection; its methods are the client's callbacks."""

    def __init__(self, name: str, on_closed: Callable[[str], object]) -> None:
        self.name = name
        self.generation = 0
        """Raised by every reconnect: whoever saw another one may have lost messages in between."""
        self.is_open = False
        """It was connected once."""
        self.up_since = 0.0
        """Monotonic time since which it is connected, when it is."""
        self.is_ending = False
        """We are closing it ourselves."""
        self._on_closed = on_closed
        self._waits: set[asyncio.Timeout] = set()
        self._told = ""
        self._tell_again_at = 0.0

    @asynccontextmanager
    async def answer_within(self, time_limit: timedelta) -> AsyncIterator[None]:
        """TimeoutError when the time is up, and at once when the connection breaks: then no answer will come."""
        async with asyncio.timeout(time_limit.total_seconds()) as wait:
            self._waits.add(wait)
            try:
                yield
            finally:
                self._waits.discard(wait)

    def opened(self) -> None:
        """Called when it is connected for the first time."""
        self.is_open = True
        self.up_since = time.monotonic()

    async def disconnected(self) -> None:
        """Called when the connection broke; attempts to restore it begin."""
        now = asyncio.get_running_loop().time()
        for wait in self._waits:
            if not wait.expired():  # one whose time has just run out cannot be moved, and ends by itself
                wait.reschedule(now)
        if not self.is_ending:
            log.warning("messaging.connection.broken", connection=self.name)

    async def reconnected(self) -> None:
        """Called when the connection is back."""
        self.generation += 1
        self.up_since = time.monotonic()
        log.info("messaging.connection.restored", connection=self.name, generation=self.generation)

    async def closed(self) -> None:
        """Called when the connection will never be restored."""
        if not self.is_ending:
            self._on_closed(self.name)

    async def failed(self, error: Exception) -> None:
        """Called for every error that has no caller. What a refusal refuses does not get better by asking again."""
        if self.is_ending:
            return
        self._tell(repr(error))
        if str(error).removeprefix("nats: ").strip("'").lower() not in UNRECOVERABLE:
            return
        if not self.is_open:
            raise BrokerRefused(f"The broker refused the connection: {error}.")
        self._on_closed(self.name)

    def _tell(self, error: str) -> None:
        """Attempts to reconnect fail twice a second: the same error is worth a line only now and then."""
        now = time.monotonic()
        if error != self._told or now >= self._tell_again_at:
            self._told, self._tell_again_at = error, now + SAME_ERROR_EVERY.total_seconds()
            log.warning("messaging.connection.error", connection=self.name, error=error)


class Connection:
    """An open client with its JetStream context."""

    def __init__(self, client: Client, line: Line, *, timeout: timedelta) -> None:
        self.client = client
        self.line = line
        self.inbox = ReplyInbox(client)
        self.jetstream: JetStreamContext = client.jetstream(timeout=timeout.total_seconds())

    @property
    def is_connected(self) -> bool:
        """Whether the broker is there right now."""
        return self.client.is_connected

    @property
    def connected_for(self) -> timedelta:
        """How long the broker has been there without a break; nothing when it is not there."""
        return timedelta(seconds=time.monotonic() - self.line.up_since) if self.is_connected else timedelta(0)

    @property
    def generation(self) -> int:
        """How often the connection was restored."""
        return self.line.generation

    async def wait_connected(self, within: timedelta) -> None:
        """Return when the broker is there; StoreUnavailable when it does not come back in time."""
        deadline = time.monotonic() + within.total_seconds()
        while not self.is_connected:
            if self.client.is_closed or time.monotonic() >= deadline:
                raise StoreUnavailable("The broker is not reachable.")
            await asyncio.sleep(POLL.total_seconds())

    async def flush(self, within: timedelta) -> None:
        """Return when the broker has everything that was sent; StoreUnavailable otherwise.

        A word to ourselves comes back behind all that was sent before it. The client's own flush would end its reading
        for good when the answer comes after the time is up, and say afterwards that everything has arrived.
        """
        if not self.is_connected:
            raise StoreUnavailable("The broker is not reachable.")
        try:
            async with self.line.answer_within(within):
                await (await self.inbox.ask_ourselves())
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable("The broker did not confirm what was sent.") from error

    async def close(self) -> None:
        """Send what is still buffered, then close; what has broken already does not matter any more.

        Draining would wait for messages that pull subscriptions never mark as taken.
        """
        self.line.is_ending = True
        with suppress(StoreUnavailable):
            if self.is_connected:
                await self.flush(CLOSE_TIMEOUT)
        with suppress(NatsError, TimeoutError, OSError):
            await self.client.close()


async def connect(
    settings: MessagingSettings, *, name: str, on_closed: Callable[[str], object] = end_process
) -> Connection:
    """Open a connection; waits for the broker as long as it takes. BrokerRefused when it does not want us."""
    line = Line(name, on_closed)
    client = Client()
    try:
        await client.connect(**_options(settings, line), **_who(settings.login))
    except BaseException:
        line.is_ending = True
        await client.close()
        raise
    line.opened()
    return Connection(client, line, timeout=settings.publish_timeout)


def make_broker(
    settings: MessagingSettings,
    *,
    name: str,
    graceful_timeout: timedelta,
    on_closed: Callable[[str], object] = end_process,
) -> tuple[NatsBroker, Line]:
    """FastStream's broker with safe defaults; it connects when it is started.

    Every message is settled by hand. `graceful_timeout` is how long a stop waits for running handlers.
    """
    line = Line(name, on_closed)
    broker = NatsBroker(
        **_options(settings, line),
        security=_security(settings.login),
        ack_policy=AckPolicy.MANUAL,
        graceful_timeout=graceful_timeout.total_seconds(),
        js_options={"timeout": settings.publish_timeout.total_seconds()},
        apply_types=False,
        logger=logging.getLogger("faststream.nats"),
        log_level=logging.DEBUG,
    )
    return broker, line


async def connection_of(broker: NatsBroker, line: Line, settings: MessagingSettings) -> Connection:
    """The connection that a broker works on, opened now if it is not yet. See `connect`."""
    client = await broker.connect()
    line.opened()
    return Connection(client, line, timeout=settings.publish_timeout)


def _options(settings: MessagingSettings, line: Line) -> dict[str, Any]:
    """The client's options, in its own words."""
    return {
        "servers": settings.servers,
        "name": line.name,
        "allow_reconnect": True,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": settings.reconnect_wait.total_seconds(),
        "connect_timeout": settings.connect_timeout.total_seconds(),
        "drain_timeout": CLOSE_TIMEOUT.total_seconds(),
        "ping_interval": PING_INTERVAL.total_seconds(),
        "max_outstanding_pings": 2,
        "error_cb": line.failed,
        "disconnected_cb": line.disconnected,
        "reconnected_cb": line.reconnected,
        "closed_cb": line.closed,
    }


def _who(login: Login) -> dict[str, Any]:
    if login.user is not None and login.password is not None:
        return {"user": login.user, "password": login.password.get_secret_value()}
    return {} if login.token is None else {"token": login.token.get_secret_value()}


def _security(login: Login) -> NatsToken | NatsUserPassword | None:
    if login.user is not None and login.password is not None:
        return NatsUserPassword(login.user, login.password.get_secret_value())
    return None if login.token is None else NatsToken(login.token.get_secret_value())
