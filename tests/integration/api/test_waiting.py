"""Long polls: the end is told when it comes, to whoever may still see it, and a place is free again at once."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from shared.contracts.envelope import Envelope
from shared.contracts.operations import Operation
from shared.database.settings import DatabaseSettings
from shared.database.sql import run
from tests.integration.api.harness import ALICE, BOB, KNOWLEDGE, Gateway, checked_error, running_gateway
from tests.integration.api.streaming import Asked, asked
from tests.support.eventually import until

SOON = timedelta(seconds=10)


@pytest.fixture
async def operation_id(gateway: Gateway) -> str:
    """An operation that nobody works on yet."""
    accepted = await gateway.accept_document(await gateway.make_space())
    return accepted["operationId"]


@pytest.fixture
async def small(fresh: DatabaseSettings, tmp_path: Path) -> AsyncIterator[Gateway]:
    """An api where only one request at a time may wait."""
    async with running_gateway(fresh, tmp_path, most_waiters=1) as running:
        yield running


def waiting(gateway: Gateway, operation_id: str, seconds: float = 30) -> asyncio.Task[httpx.Response]:
    """A request that waits."""
    return asyncio.ensure_future(gateway.get(f"/operations/{operation_id}", ALICE, wait=seconds))


async def somebody_waits(gateway: Gateway, number: int = 1) -> None:
    await until(lambda: gateway.parts.watches.operations.waiting == number)


async def test_the_end_is_told_when_it_comes(gateway: Gateway, operation_id: str) -> None:
    request = waiting(gateway, operation_id)
    await somebody_waits(gateway)
    assert not request.done()

    await gateway.work()

    async with asyncio.timeout(SOON.total_seconds()):
        answer = await request
    Envelope[Operation].model_validate_json(answer.content)
    assert answer.json()["data"]["status"] == "SUCCEEDED"
    assert gateway.parts.watches.operations.waiting == 0


async def test_when_time_is_up_the_present_state_is_told(gateway: Gateway, operation_id: str) -> None:
    answer = await waiting(gateway, operation_id, 0.05)

    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "PENDING")
    assert answer.json()["data"]["nextPollAfterMs"] == 250


async def test_what_is_over_is_not_waited_for(gateway: Gateway, operation_id: str) -> None:
    await gateway.work()

    async with asyncio.timeout(SOON.total_seconds()):
        answer = await waiting(gateway, operation_id)

    assert answer.json()["data"]["status"] == "SUCCEEDED"


@pytest.mark.parametrize("wait", ["0", "0.0", "0.001", "1e-3", "5e-324"])
async def test_a_wait_is_any_number_of_json(gateway: Gateway, operation_id: str, wait: str) -> None:
    answer = await gateway.get(f"/operations/{operation_id}", ALICE, wait=wait)

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("wait", ["", "-1", "30.1", "31", "1e400", "x", "NaN", "inf", "true", "01", "1_0", " 1", ".5"])
async def test_a_wait_that_is_no_number_from_0_to_30_is_refused(gateway: Gateway, wait: str) -> None:
    answer = await gateway.get("/operations/op_1", ALICE, wait=wait)

    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [fault["field"] for fault in error["fieldErrors"]] == ["$.wait"]


async def test_another_parameter_is_refused(gateway: Gateway, operation_id: str) -> None:
    answer = await gateway.get(f"/operations/{operation_id}", ALICE, wait=1, waits=2)

    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [fault["field"] for fault in error["fieldErrors"]] == ["$.waits"]


async def test_whoever_may_not_see_it_does_not_wait(gateway: Gateway, operation_id: str) -> None:
    async with asyncio.timeout(SOON.total_seconds()):
        answer = await gateway.get(f"/operations/{operation_id}", BOB, wait=30)

    checked_error(answer, 404, "OPERATION_NOT_FOUND")


async def test_a_grant_that_is_taken_back_meanwhile_hides_the_answer(gateway: Gateway, operation_id: str) -> None:
    request = waiting(gateway, operation_id)
    await somebody_waits(gateway)

    await gateway.parts.database.write(lambda conn: run(conn, "DELETE FROM access_grant").rowcount)
    await gateway.work()

    async with asyncio.timeout(SOON.total_seconds()):
        checked_error(await request, 404, "OPERATION_NOT_FOUND")


async def test_an_assertion_that_expires_meanwhile_is_no_longer_one(gateway: Gateway, operation_id: str) -> None:
    request = waiting(gateway, operation_id)
    await somebody_waits(gateway)

    gateway.clock.move(timedelta(hours=1))
    await gateway.work()

    async with asyncio.timeout(SOON.total_seconds()):
        checked_error(await request, 401, "KNOWLEDGE_UNAUTHENTICATED")


def path_of(operation_id: str) -> str:
    return f"{KNOWLEDGE}/operations/{operation_id}?wait=30"


async def test_whoever_hangs_up_leaves_their_place(gateway: Gateway, operation_id: str) -> None:
    async with asked(gateway.app, path_of(operation_id), gateway.headers()) as request:
        await somebody_waits(gateway)
        request.hang_up()
        await until(lambda: gateway.parts.watches.operations.waiting == 0)

        assert request.messages.empty()


async def test_when_all_places_are_taken_the_answer_comes_at_once(small: Gateway) -> None:
    operation_id = (await small.accept_document(await small.make_space()))["operationId"]
    async with asked(small.app, path_of(operation_id), small.headers()) as first:
        await somebody_waits(small)

        async with asyncio.timeout(SOON.total_seconds()):
            second = await small.get(f"/operations/{operation_id}", ALICE, wait=30)
        assert second.json()["data"]["status"] == "PENDING"

        first.hang_up()
        await somebody_waits(small, 0)
        request = waiting(small, operation_id)
        await somebody_waits(small)
        await small.work()
        assert (await request).json()["data"]["status"] == "SUCCEEDED"


async def test_in_a_stop_the_present_state_is_told_at_once(gateway: Gateway, operation_id: str) -> None:
    request: Asked
    async with asked(gateway.app, path_of(operation_id), gateway.headers()) as request:
        await somebody_waits(gateway)

        gateway.parts.watches.stop()

        await request.begin()
        assert request.status == 200
        assert Envelope[Operation].model_validate_json(await request.body()).data.status == "PENDING"


async def test_all_who_wait_are_looked_after_in_one_statement(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    accepted = [await gateway.accept_document(space_id, f"Travel {number}") for number in range(5)]
    ids = [one["operationId"] for one in accepted]
    looked_for: list[frozenset[str]] = []
    watch = gateway.parts.watches.operations
    look = watch._look

    async def noted(keys: Collection[str]) -> Mapping[str, bool]:
        looked_for.append(frozenset(keys))
        return await look(keys)

    watch._look = noted
    requests = [waiting(gateway, operation_id) for operation_id in ids]
    await somebody_waits(gateway, 5)
    await until(lambda: frozenset(ids) in looked_for)

    await gateway.work()
    answers = await asyncio.gather(*requests)

    assert [answer.json()["data"]["status"] for answer in answers] == ["SUCCEEDED"] * 5
