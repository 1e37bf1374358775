"""What one api process has accepted, every other one knows at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from shared.database.settings import DatabaseSettings
from tests.integration.api.harness import ALICE, Gateway, running_gateway
from tests.support.eventually import until

ROUNDS = 4


@pytest.fixture
async def replicas(settings: DatabaseSettings, tmp_path: Path) -> AsyncIterator[list[Gateway]]:
    """Three processes' worth of the api on one database, of either kind."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(running_gateway(settings, tmp_path)) for _ in range(3)]


async def looks(gateway: Gateway, space_id: str, accepted: dict[str, str]) -> tuple[httpx.Response, ...]:
    """Everything that shows what was accepted, asked for all at once."""
    return await asyncio.gather(
        gateway.get(f"/operations/{accepted['operationId']}"),
        gateway.get(f"/operations/{accepted['operationId']}", ALICE, wait=0.001),
        gateway.get(f"/documents/{accepted['documentId']}"),
        gateway.get(f"/spaces/{space_id}/documents", ALICE, pageSize=100),
    )


async def test_work_that_was_accepted_is_never_unknown_to_another_replica(replicas: list[Gateway]) -> None:
    space_id = await replicas[0].make_space()
    for number in range(ROUNDS * len(replicas)):
        accepted = await replicas[number % len(replicas)].accept_document(space_id, f"Travel {number}")

        answers = await asyncio.gather(*(looks(replica, space_id, accepted) for replica in replicas))

        for operation, waited, document, listed in answers:
            assert [answer.status_code for answer in (operation, waited, document, listed)] == [200] * 4
            assert operation.json()["data"] == waited.json()["data"]
            assert operation.json()["data"]["status"] == "PENDING"
            assert document.json()["data"]["status"] == "CREATING"
            assert accepted["documentId"] in {item["documentId"] for item in listed.json()["data"]["items"]}


async def test_a_space_that_was_created_is_never_unknown_to_another_replica(replicas: list[Gateway]) -> None:
    for number, replica in enumerate(replicas):
        space_id = await replica.make_space(f"space-{number}")

        answers = await asyncio.gather(*(other.get(f"/spaces/{space_id}") for other in replicas))

        assert [answer.json()["data"]["status"] for answer in answers] == ["ACTIVE"] * 3


async def test_the_end_of_what_one_replica_accepted_is_waited_for_at_another(replicas: list[Gateway]) -> None:
    first, second, third = replicas
    accepted = await first.accept_document(await first.make_space())
    waiting = asyncio.ensure_future(second.get(f"/operations/{accepted['operationId']}", ALICE, wait=30))
    await until(lambda: second.parts.watches.operations.waiting == 1)

    await first.work()

    assert (await waiting).json()["data"]["status"] == "SUCCEEDED"
    assert (await third.get(f"/documents/{accepted['documentId']}")).json()["data"]["status"] == "ACTIVE"
