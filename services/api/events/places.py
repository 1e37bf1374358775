"""How many streams a process keeps open."""

from datetime import timedelta
from typing import Final

from prometheus_client import Gauge

from shared.contracts.errors import ErrorCode
from shared.domain.errors import LIMIT_REACHED, FieldFault, Transient

EVENT_STREAMS: Final = "event_streams"
WORTH_TRYING_AFTER: Final = timedelta(seconds=5)


class StreamsTaken(Transient):
    """This process has as many open streams as it may have."""

    code = ErrorCode.PROVIDER_UNAVAILABLE
    message = "As many event streams are open as are allowed. Try again later, or look at operations instead."

    def __init__(self) -> None:
        fault = FieldFault(EVENT_STREAMS, LIMIT_REACHED, self.message)
        super().__init__(retry_after=WORTH_TRYING_AFTER, faults=(fault,))


class Places:
    """The places for streams. Whoever takes one leaves it."""

    def __init__(self, most: int, gauge: Gauge) -> None:
        self._most = most
        self._gauge = gauge
        self._taken = 0

    def take(self) -> None:
        """Take a place; StreamsTaken when there is none."""
        if self._taken >= self._most:
            raise StreamsTaken
        self._note(self._taken + 1)

    def leave(self) -> None:
        """Leave a place for somebody else."""
        self._note(self._taken - 1)

    def _note(self, taken: int) -> None:
        self._taken = taken
        self._gauge.set(taken)
