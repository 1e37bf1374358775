"""Which outcome an error is."""

from datetime import timedelta

import pytest

from services.worker.outcomes import Failed, outcome_of
from shared.contracts.enums import FailureClass, FailureReason
from shared.domain.errors import (
    ContentRejected,
    Forbidden,
    KnowgateError,
    NotFound,
    ProviderThrottled,
    ProviderUnavailable,
    Skipped,
    StoreUnavailable,
)


@pytest.mark.parametrize(
    ("error", "reason", "failure_class"),
    [
        (ContentRejected(FailureReason.FILE_SCANNED), FailureReason.FILE_SCANNED, FailureClass.PERMANENT),
        (NotFound(), FailureReason.FILE_MISSING, FailureClass.PERMANENT),
        (Forbidden(), FailureReason.PROVIDER_REFUSED, FailureClass.PERMANENT),
        (ProviderThrottled(), FailureReason.PROVIDER_THROTTLED, FailureClass.THROTTLED),
        (ProviderUnavailable(), FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT),
        (StoreUnavailable(), FailureReason.INTERNAL_ERROR, FailureClass.TRANSIENT),
        (Skipped(), FailureReason.INTERNAL_ERROR, FailureClass.TRANSIENT),
        (KnowgateError(), FailureReason.INTERNAL_ERROR, FailureClass.TRANSIENT),
    ],
)
def test_an_error_is_a_failure_of_its_reason(
    error: KnowgateError, reason: FailureReason, failure_class: FailureClass
) -> None:
    outcome = outcome_of(error)
    assert (outcome.reason, outcome.failure_class) == (reason, failure_class)


def test_what_is_known_about_when_to_try_again_is_passed_on() -> None:
    assert outcome_of(ProviderThrottled(retry_after=timedelta(seconds=9))) == Failed(
        FailureReason.PROVIDER_THROTTLED, timedelta(seconds=9)
    )


@pytest.mark.parametrize("reason", list(FailureReason))
def test_every_reason_has_a_text_that_people_may_see(reason: FailureReason) -> None:
    assert Failed(reason).text
