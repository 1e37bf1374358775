"""Clocks that a test moves."""

from datetime import UTC, datetime, timedelta


class Seconds:
    """A monotonic clock."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class WallClock:
    """An aware clock."""

    def __init__(self, now: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self.now += by
