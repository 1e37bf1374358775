"""When to look at an operation again: short while it is fast, longer while it waits, 0 when it is over."""

from datetime import datetime, timedelta

from shared.domain.operation import Operation

SHORTEST = timedelta(milliseconds=250)
LONGEST = timedelta(seconds=60)
"""The contract's bound of `nextPollAfterMs`."""

_AGE_SHARE = 0.25


def poll_after(operation: Operation, now: datetime) -> timedelta:
    """How long a caller should wait before the next look.

    A waiting operation is worth a look when its retry is due. Otherwise a quarter of its age so far,
    so that polling costs little beside the work and sees the end soon after it came.
    """
    if operation.is_over:
        return timedelta(0)
    if operation.next_retry_at is not None and operation.next_retry_at > now:
        return _bounded(operation.next_retry_at - now)
    return _bounded((now - operation.created_at) * _AGE_SHARE)


def _bounded(wait: timedelta) -> timedelta:
    return min(max(wait, SHORTEST), LONGEST)
