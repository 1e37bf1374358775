"""The second api process beside the first: a replica, and one with tighter limits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx

from tests.conformance.client import Client
from tests.conformance.identity import User
from tests.conformance.scenarios.acts import until
from tests.conformance.scenarios.scenario import World

HEALTH: Final = "/readyz"
TIMEOUT: Final = httpx.Timeout(30.0, connect=5.0)


@asynccontextmanager
async def replica(world: World, user: User) -> AsyncIterator[Client]:
    """A user at the other api process."""
    async with httpx.AsyncClient(base_url=world.gateway.second_api(), timeout=TIMEOUT, trust_env=False) as http:

        async def is_ready() -> bool:
            try:
                return (await http.get(HEALTH)).status_code == 200
            except httpx.TransportError:
                return False

        await until(is_ready, bool, "the other api process")
        yield world.speaker.over(http).of(user)
