"""How long the broker has been away, and when that is too long to take on new work."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from services.api.broker.room import MonotonicClock
from shared.contracts.errors import ErrorCode
from shared.domain.errors import LIMIT_REACHED, FieldFault, StoreUnavailable

BROKER_DOWN: Final = "broker_down"
WORTH_TRYING_AFTER: Final = timedelta(seconds=5)


class BrokerDown(StoreUnavailable):
    """The broker has been away for so long that accepted work would only pile up."""

    code = ErrorCode.PROVIDER_UNAVAILABLE
    message = "New work is not taken on while the message broker is away. Try again later."

    def __init__(self) -> None:
        fault = FieldFault(BROKER_DOWN, LIMIT_REACHED, self.message)
        super().__init__(retry_after=WORTH_TRYING_AFTER, faults=(fault,))


class BrokerPresence:
    """Looks at the connection every now and then, so that it can tell how long it has been broken."""

    def __init__(self, is_connected: Callable[[], bool], patience: timedelta, monotonic: MonotonicClock) -> None:
        """`patience`: how long work is accepted without a broker."""
        self._is_connected = is_connected
        self._patience = patience.total_seconds()
        self._monotonic = monotonic
        self._seen_at = monotonic()

    @property
    def is_there(self) -> bool:
        """Whether the broker is there right now."""
        return self._is_connected()

    def look(self) -> None:
        """Note whether it is there; to be called more often than `patience`."""
        if self._is_connected():
            self._seen_at = self._monotonic()

    def require(self) -> None:
        """BrokerDown when it has been away for longer than `patience`."""
        self.look()
        if self._monotonic() - self._seen_at > self._patience:
            raise BrokerDown
