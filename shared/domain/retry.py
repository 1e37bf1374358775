"""Whether a failed step is tried again, and when. Retries are stored values, never redeliveries."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tenacity import RetryCallState, Retrying, wait_exponential

from shared.contracts.enums import FailureClass

AUTOMATIC_RETRIES = 5
"""At most this many per operation, over all its steps (contract: limits.automaticRetries)."""

MANUAL_RETRIES = 3
"""At most this many per root operation (contract: limits.manualRetriesPerRootOperation)."""

RETRIED = frozenset({FailureClass.TRANSIENT, FailureClass.THROTTLED, FailureClass.INTERRUPTED})
"""Classes that may succeed when tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to wait before a retry: exponential from `first_wait` up to `longest_wait`."""

    first_wait: timedelta = timedelta(seconds=2)
    longest_wait: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class RetryAt:
    """Try again, not before `at`."""

    at: datetime


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not try again. `retryable` says whether a person may."""

    retryable: bool


LONGEST_EXPONENT = 20
"""Housekeeping that never gives up stops doubling here."""


def wait_before(policy: RetryPolicy, retry: int, jitter: float) -> timedelta:
    """The wait before the `retry`-th retry (from 1): half of the exponential wait, and up to as much again by `jitter`.

    `jitter` lies in [0, 1) and comes from the caller, so the same input gives the same time.
    """
    state = RetryCallState(retry_object=Retrying(), fn=None, args=(), kwargs={})
    state.attempt_number = retry
    wait = wait_exponential(multiplier=policy.first_wait.total_seconds(), max=policy.longest_wait.total_seconds())
    return timedelta(seconds=wait(state) * (0.5 + jitter / 2))


def decide_retry(
    failure_class: FailureClass,
    *,
    retries_so_far: int,
    retry_after: timedelta | None,
    policy: RetryPolicy,
    now: datetime,
    jitter: float,
) -> RetryAt | GiveUp:
    """Decide from the class alone; a throttling provider's own wish is honoured when it is longer."""
    if failure_class not in RETRIED:
        return GiveUp(retryable=False)
    if retries_so_far >= AUTOMATIC_RETRIES:
        return GiveUp(retryable=True)
    wait = wait_before(policy, retries_so_far + 1, jitter)
    return RetryAt(now + max(wait, retry_after or timedelta(0)))
