"""Rounds go on whatever one of them meets; only a lost lease ends them."""

import asyncio
from datetime import timedelta

import pytest

from services.projector.rounds import repeat
from shared.database.errors import LeaseLost
from shared.domain.errors import StoreUnavailable

pytestmark = pytest.mark.anyio


async def test_a_round_that_fails_is_followed_by_another_until_the_lease_is_lost() -> None:
    met = iter([StoreUnavailable(), LookupError("a bug"), None, LeaseLost()])
    rounds = 0

    async def work() -> None:
        nonlocal rounds
        rounds += 1
        error = next(met)
        if error is not None:
            raise error

    with pytest.raises(LeaseLost):
        async with asyncio.timeout(5):
            await repeat("test", work, every=timedelta(0))
    assert rounds == 4
