"""What the person or the system asks of the launcher by signals: stop, and asked again, stop at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequests:
    """How often stopping was asked for. Reading and counting need no lock: signals arrive in the main thread."""

    def __init__(self) -> None:
        self._count = 0

    @property
    def is_stopping(self) -> bool:
        """Whether stopping was asked for."""
        return self._count > 0

    @property
    def is_urgent(self) -> bool:
        """Whether it was asked for more than once: end everything now."""
        return self._count > 1

    def add(self) -> None:
        """Ask for it."""
        self._count += 1

    @contextmanager
    def from_signals(self) -> Iterator[None]:
        """Count the stopping signals of this process in the meantime."""
        former = {number: signal.signal(number, self._count_signal) for number in STOPPING}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _count_signal(self, number: int, frame: FrameType | None) -> None:
        self.add()
