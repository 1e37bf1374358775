"""This process's connection to the broker: opened in the background, and listened on for room and workers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from services.api.broker.presence import BrokerPresence
from services.api.broker.room import Room
from shared.domain.errors import StoreUnavailable
from shared.messaging.announcements import HandBoard, SlotBoard, listen_for_hands, listen_for_room, listen_for_slots
from shared.messaging.codec import Message
from shared.messaging.connection import Connection
from shared.messaging.publisher import Acked, Publisher
from shared.messaging.settings import MessagingSettings

log = structlog.get_logger()

LOOKED_AT_EVERY: Final = timedelta(milliseconds=500)


class BrokerLink:
    """`run` it as a task and cancel that to end. It never holds up a start: acceptance depends on SQL alone."""

    def __init__(
        self,
        settings: MessagingSettings,
        open_connection: Callable[[], Awaitable[Connection]],
        room: Room,
        board: SlotBoard,
        hands: HandBoard,
    ) -> None:
        self._settings = settings
        self._open_connection = open_connection
        self._room = room
        self._board = board
        self._hands = hands
        self._connection: Connection | None = None
        self._publisher: Publisher | None = None

    def is_connected(self) -> bool:
        """Whether the broker is there right now."""
        return self._connection is not None and self._connection.is_connected

    def connected_for(self) -> timedelta:
        """How long the broker has been there without a break."""
        return timedelta(0) if self._connection is None else self._connection.connected_for

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        """Publish when there is a broker."""
        if self._publisher is None:
            return [StoreUnavailable("The broker is not reachable.") for _ in messages]
        return await self._publisher.publish_many(messages)

    async def run(self, presence: BrokerPresence) -> None:
        """Connect, listen, and keep looking whether the broker is there."""
        opening = asyncio.create_task(self._open())
        try:
            while True:
                presence.look()
                if opening.done() and (error := opening.exception()) is not None:
                    log.critical("api.broker.refused", error=repr(error))
                    raise error
                await asyncio.sleep(LOOKED_AT_EVERY.total_seconds())
        finally:
            opening.cancel()
            if self._connection is not None:
                await self._connection.close()

    async def _open(self) -> None:
        self._connection = await self._open_connection()
        self._publisher = Publisher(self._connection, self._settings)
        await listen_for_room(self._connection, self._room.hear)
        await listen_for_slots(self._connection, self._board.hear)
        await listen_for_hands(self._connection, self._hands.hear)
