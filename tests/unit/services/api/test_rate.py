"""The bucket of tokens that each tenant's requests are taken from."""

from datetime import timedelta

import pytest

from services.api.limits.rate import SWEPT_FROM, RateExceeded, RateLimit
from shared.contracts.ids import TenantId
from shared.domain.errors import FieldFault

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


def taken(limit: RateLimit, tenant: TenantId = ACME, asked: int = 100) -> int:
    """How many of so many requests are let through."""
    for number in range(asked):
        try:
            limit.take(tenant)
        except RateExceeded:
            return number
    return asked


def test_a_quiet_tenant_may_send_a_burst_and_then_waits() -> None:
    limit = RateLimit(10, 5, lambda: 50.0)

    assert taken(limit) == 5
    assert taken(limit) == 0


def test_tokens_come_back_at_the_rate_and_never_more_than_a_burst() -> None:
    now = [0.0]
    limit = RateLimit(10, 5, lambda: now[0])
    assert taken(limit) == 5

    now[0] = 0.25
    assert taken(limit) == 2
    now[0] = 90.0
    assert taken(limit) == 5


def test_the_refusal_names_the_limit_and_says_when_the_next_token_is_there() -> None:
    limit = RateLimit(4, 1, lambda: 0.0)
    limit.take(ACME)

    with pytest.raises(RateExceeded) as refused:
        limit.take(ACME)

    assert refused.value.retry_after == timedelta(milliseconds=250)
    assert refused.value.faults == (FieldFault("tenant_rate", "LIMIT_REACHED", RateExceeded.message),)


def test_a_refused_request_takes_nothing() -> None:
    now = [0.0]
    limit = RateLimit(1, 1, lambda: now[0])
    limit.take(ACME)
    assert [taken(limit) for _ in range(50)] == [0] * 50

    now[0] = 1.0
    assert taken(limit) == 1


def test_tenants_do_not_use_up_what_is_others() -> None:
    limit = RateLimit(1, 3, lambda: 0.0)

    assert (taken(limit, ACME), taken(limit, GLOBEX)) == (3, 3)


def test_without_a_limit_everything_passes_and_nothing_is_remembered() -> None:
    limit = RateLimit(0, 1, lambda: 0.0)

    assert taken(limit, asked=5000) == 5000
    assert limit.tenants == 0


def test_full_buckets_are_forgotten_and_others_kept() -> None:
    now = [0.0]
    limit = RateLimit(1, 10, lambda: now[0])
    for number in range(SWEPT_FROM):
        limit.take(TenantId(f"tenant-{number}"))
    now[0] = 0.5
    assert taken(limit, ACME) == 10
    assert limit.tenants == SWEPT_FROM + 1

    now[0] = 1.5
    for number in range(3 * SWEPT_FROM):
        limit.take(TenantId(f"other-{number}"))

    assert taken(limit, ACME) == 1
    now[0] = 1000.0
    for number in range(4 * SWEPT_FROM):
        limit.take(TenantId(f"late-{number}"))
    assert limit.tenants < 6 * SWEPT_FROM
