"""What is refused for now: too much at once, or a part that is away; and the small pages of this gateway."""

import asyncio
from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.client import expect
from tests.conformance.identity import User
from tests.conformance.scenarios.acts import end_of, new_document, new_file, new_space, space_request, submit
from tests.conformance.scenarios.beside import replica
from tests.conformance.scenarios.replacing import NEW, WORDS, odd_name
from tests.conformance.scenarios.scenario import World, rule
from tests.conformance.stage import EVERY_FILE, SMALL_PAGE

BUSY: Final = User(subject="bea", tenant="busy")
QUIET: Final = User(subject="quentin", tenant="quiet")
QUEUEING: Final = User(subject="quincy", tenant="queueing")
CUT_OFF: Final = User(subject="cleo", tenant="cut-off")
CROWDED: Final = User(subject="connie", tenant="crowded")
LONG_AWAY: Final = 1.0
"""Seconds; ten times as long as the other api process takes work on without a broker."""


def named_limit(answer: Answer) -> str:
    """The limit that a refusal names."""
    fields = answer.error["fieldErrors"]
    expect(len(fields) == 1, f"{len(fields)} fields are named")
    return str(fields[0]["field"])


@rule("P6 pages of a gateway set to 20 hold 20 items, and a larger one is refused with the limit")
async def gives_small_pages(world: World) -> None:
    client = world.speaker.of(CROWDED)
    for _ in range(SMALL_PAGE + 2):
        await client.ask("space_create", body=space_request())
    answer = await client.call("space_list", query={"page": 1, "pageSize": SMALL_PAGE})
    told = (len(answer.data["items"]), answer.meta["pagination"]["totalPages"])
    expect(told == (SMALL_PAGE, 2), f"the page is {told}")
    space_id = answer.data["items"][0]["spaceId"]
    for size in (SMALL_PAGE + 1, 100):
        for tool, ids in (("space_list", ()), ("document_list", (space_id,))):
            refused = await client.refused("KNOWLEDGE_INVALID_INPUT", tool, *ids, query={"page": 1, "pageSize": size})
            expect(named_limit(refused) == "$.pageSize", f"it names {refused.error}")
            expect(str(SMALL_PAGE) in refused.error["fieldErrors"][0]["message"], "it does not say how many")


@rule("LIMIT a tenant that asks too fast is told to wait, and no other tenant with it")
async def limits_rates(world: World) -> None:
    async with replica(world, BUSY) as busy:
        answers = await asyncio.gather(*(busy.call("space_list") for _ in range(100)))
        await busy.of(QUIET).ask("space_list")
        refused = [answer for answer in answers if not answer.is_success]
        expect(bool(refused), "none of 100 was refused")
        for answer in refused:
            expect(named_limit(busy.must_be("RATE_LIMITED", answer)) == "tenant_rate", f"{answer.error}")


@rule("LIMIT a tenant that has too much unfinished is told to wait, and no other tenant with it")
async def limits_queues(world: World) -> None:
    usual, name = world.speaker.of(QUEUEING), odd_name("slow")
    space_id = await new_space(usual)
    world.gateway.tell(name, ingestTime="PT3S")
    accepted = [await submit(usual, space_id, name) for _ in range(3)]
    body = {"fileResourceId": await new_file(usual, name), "documentName": "one too many"}
    async with replica(world, QUEUEING) as narrow:
        refused = await narrow.refused("RATE_LIMITED", "document_upload", space_id, body=body)
        expect(named_limit(refused) == "tenant_queue", f"it names {refused.error}")
        await narrow.of(QUIET).ask("space_create", body=space_request())
        for one in accepted:
            await end_of(usual, one["operationId"])
        await narrow.ask("document_upload", space_id, body=body)


@rule("LIMIT a provider that is away is told as such, never as an empty result")
async def tells_of_the_provider(world: World) -> None:
    client = world.speaker
    document_id = await new_document(client, await new_space(client), odd_name("old"), NEW)
    body = {"query": WORDS, "documentIds": [document_id]}
    world.gateway.tell(EVERY_FILE, faults={"search": {"unavailable": 1_000_000}})
    try:
        await client.refused("PROVIDER_UNAVAILABLE", "search", body=body)
    finally:
        world.gateway.tell(EVERY_FILE)
    expect(bool((await client.ask("search", body=body))["hits"]), "it finds nothing afterwards")


@rule("LIMIT new work is refused while the broker is away for longer than is allowed, and reads go on")
async def tells_of_the_broker(world: World) -> None:
    usual = world.speaker.of(CUT_OFF)
    space_id = await new_space(usual)
    body = {"fileResourceId": await new_file(usual), "documentName": "later"}
    async with replica(world, CUT_OFF) as narrow:
        with world.gateway.without_broker():
            await asyncio.sleep(LONG_AWAY)
            refused = await narrow.refused("PROVIDER_UNAVAILABLE", "document_upload", space_id, body=body)
            expect(named_limit(refused) == "broker_down", f"it names {refused.error}")
            await narrow.ask("space_get", space_id)
    await new_document(usual, space_id)


@rule("LIMIT a change is refused for now when the database is taken for too long, and takes no effect")
async def tells_of_the_database(world: World) -> None:
    body = space_request()
    async with replica(world, CUT_OFF) as narrow:
        with world.gateway.taken_database():
            await narrow.refused("KNOWLEDGE_PROVIDER_UNAVAILABLE", "space_create", body=body)
        await narrow.ask("space_create", body=body)


SCENARIOS: Final = (
    gives_small_pages,
    limits_rates,
    limits_queues,
    tells_of_the_provider,
    tells_of_the_broker,
    tells_of_the_database,
)
