"""A short run of what `make fuzz` does at length: generated requests over a socket, every check of every answer."""

import asyncio

from shared.contracts.openapi import build_openapi
from shared.contracts.route import AUTHORIZATION_HEADER, SESSION_ID, USER_ASSERTION
from shared.contracts.routes import ROUTES
from tests.fuzz.live import Live
from tests.fuzz.running import fuzz
from tests.integration.api.harness import ALICE, TOKEN, Gateway
from tests.integration.api.serving import served

SEED = 20_310_506
EXAMPLES = 7
PHASES = {"examples": False, "coverage": False, "fuzzing": True, "stateful": False}


async def fill(gateway: Gateway, live: Live) -> None:
    """A space, documents, their operations and citations, files."""
    space_id = await gateway.make_space()
    for number in range(4):
        accepted = await gateway.accept_document(space_id, f"Travel {number}", b"A night in a hotel, no. %d" % number)
        live.learn({**accepted, "version": 1})
        live.learn((await gateway.upload(f"{number}.txt", b"Text %d" % number)).json())
    await gateway.work()
    live.learn({"spaceId": space_id, "version": 1})
    live.learn((await gateway.post("/search", {"query": "hotel night"})).json())


async def test_no_generated_request_gets_an_answer_that_the_document_does_not_foresee(gateway: Gateway) -> None:
    live = Live()
    await fill(gateway, live)
    headers = {
        AUTHORIZATION_HEADER: f"Bearer {TOKEN}",
        USER_ASSERTION.name: gateway.assertion(ALICE),
        SESSION_ID.name: ALICE.session,
    }

    async with served(gateway) as url:
        found = await asyncio.to_thread(
            fuzz, url, build_openapi("0"), live, lambda: headers, seed=SEED, examples=EXAMPLES, phases=PHASES
        )

    assert found.server_errors == []
    assert found.deviations == []
    assert len(found.routes) == len(ROUTES)
    assert found.cases >= 150
    assert found.statuses[200] >= 10
    assert found.statuses[202] >= 1
