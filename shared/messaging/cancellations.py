"""Telling workers that an operation is cancelled, so that they stop early. It only saves work.

The bucket is for those that were not listening when it was said.
"""

from collections.abc import Callable

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.kv import KeyValue

from shared.contracts.catalogue import CANCEL_SUBJECT
from shared.contracts.ids import OperationId
from shared.domain.errors import StoreUnavailable
from shared.messaging.connection import Connection
from shared.messaging.streams import BUCKET_STREAM, CANCELLED_BUCKET

EVERY_KEY = f"$KV.{CANCELLED_BUCKET}.>"
EVERY_CANCEL = CANCEL_SUBJECT.format(operation="*")


class Cancellations:
    """Says, hears and lists which operations are cancelled."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._bucket: KeyValue | None = None

    async def announce(self, operation: OperationId) -> None:
        """Say that an operation is cancelled, to those who listen now and to those who will ask."""
        try:
            bucket = await self._opened()
            await bucket.put(operation, b"")
            await self._connection.client.publish(CANCEL_SUBJECT.format(operation=operation))
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable("The cancellation could not be announced.") from error

    async def known(self) -> frozenset[OperationId]:
        """All operations of which it was said lately that they are cancelled; StoreUnavailable when nobody answers."""
        try:
            seen = await self._connection.jetstream.stream_info(BUCKET_STREAM, subjects_filter=EVERY_KEY)
        except (NatsError, TimeoutError, OSError) as error:
            raise StoreUnavailable("The cancellations could not be looked up.") from error
        return frozenset(OperationId(subject.rpartition(".")[2]) for subject in seen.state.subjects or {})

    async def listen(self, hear: Callable[[OperationId], None]) -> Subscription:
        """Call `hear` with every operation that is cancelled from now on."""

        async def heard(message: Msg) -> None:
            hear(OperationId(message.subject.rpartition(".")[2]))

        return await self._connection.client.subscribe(EVERY_CANCEL, cb=heard)

    async def _opened(self) -> KeyValue:
        if self._bucket is None:
            self._bucket = await self._connection.jetstream.key_value(CANCELLED_BUCKET)
        return self._bucket
