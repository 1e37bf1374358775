"""When to look at an operation again: short while it is fast, longer while it waits, 0 when it is over."""

from datetime import datetime, timedelta

from shared.domain.operation import Operation

SHORTEST = timedelta(milliseconds=250)
LONGEST = timedelta(seconds=60)
"""The contract's bound of `nextPollAfterMs`."""

_AGE_SHARE = 0.25


def poll_after(operation: Operation, now: datetime) -> timedelta:
    """How long a caller should wait before the next look.

    A waiting operation is worth a look when its retry is due. Otherwise a quarter of the time since it last set out
    for something new, so that polling costs little beside the work and sees the end soon after it came.
    """
    if operation.is_over:
        return timedelta(0)
    waits_until = None if operation.is_cancelling else operation.next_retry_at
    if waits_until is not None and waits_until > now:
        return _bounded(waits_until - now)
    return _bounded((now - _set_out_at(operation, now)) * _AGE_SHARE)


def _set_out_at(operation: Operation, now: datetime) -> datetime:
    """Since when it has been waiting for a worker, or at work, or being cancelled: time before says nothing of that."""
    turns = (
        operation.created_at,
        operation.started_at,
        operation.last_retry_at,
        operation.next_retry_at,
        operation.cancel_requested_at,
    )
    return max((turn for turn in turns if turn is not None and turn <= now), default=now)


def _bounded(wait: timedelta) -> timedelta:
    return min(max(wait, SHORTEST), LONGEST)
