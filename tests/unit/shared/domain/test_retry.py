"""Automatic retries: decided by class, counted, spread, capped."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.contracts.enums import FailureClass
from shared.domain.retry import GiveUp, RetryAt, RetryPolicy, decide_retry, wait_before

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICY = RetryPolicy(first_wait=timedelta(seconds=2), longest_wait=timedelta(seconds=60))


def decide(failure_class: FailureClass, *, retries: int = 0, retry_after: timedelta | None = None) -> RetryAt | GiveUp:
    return decide_retry(
        failure_class, retries_so_far=retries, retry_after=retry_after, policy=POLICY, now=NOW, jitter=0.5
    )


@pytest.mark.parametrize(
    ("retry", "jitter", "seconds"),
    [(1, 0.0, 1.0), (1, 0.5, 1.5), (2, 0.0, 2.0), (3, 0.0, 4.0), (4, 0.5, 12.0), (5, 0.0, 16.0), (9, 0.0, 30.0)],
)
def test_the_wait_doubles_is_spread_by_jitter_and_is_capped(retry: int, jitter: float, seconds: float) -> None:
    assert wait_before(POLICY, retry, jitter) == timedelta(seconds=seconds)


@pytest.mark.parametrize("failure_class", [FailureClass.TRANSIENT, FailureClass.THROTTLED, FailureClass.INTERRUPTED])
def test_what_may_pass_is_tried_again(failure_class: FailureClass) -> None:
    assert decide(failure_class) == RetryAt(NOW + timedelta(seconds=1.5))


def test_what_cannot_succeed_is_given_up_at_once_and_nobody_may_retry_it() -> None:
    assert decide(FailureClass.PERMANENT) == GiveUp(retryable=False)


def test_after_five_retries_it_is_given_up_but_a_person_may_retry_it() -> None:
    assert isinstance(decide(FailureClass.TRANSIENT, retries=4), RetryAt)
    assert decide(FailureClass.TRANSIENT, retries=5) == GiveUp(retryable=True)


def test_the_wish_of_a_throttling_provider_counts_when_it_is_longer() -> None:
    assert decide(FailureClass.THROTTLED, retry_after=timedelta(seconds=40)) == RetryAt(NOW + timedelta(seconds=40))
    assert decide(FailureClass.THROTTLED, retry_after=timedelta(seconds=1)) == RetryAt(NOW + timedelta(seconds=1.5))
