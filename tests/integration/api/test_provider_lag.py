"""A provider whose searches still show what was removed: nobody gets it, from the moment that a delete is answered."""

from datetime import timedelta

from shared.contracts.ids import SpaceId
from shared.providers.ports import Question, SpaceRef
from shared.providers.scripted.script import Script
from tests.integration.api.harness import PROFILE, Gateway, checked_error
from tests.integration.api.purging import run_purges

LAG = timedelta(seconds=30)
QUESTION = {"query": "hotel night"}


async def test_what_was_deleted_is_never_found_while_the_provider_still_shows_it(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    gateway.provider.tell("Old.txt", Script(removal_lag=LAG, foreign_hits=True))
    kept = await gateway.make_document(space_id, "Kept", b"A hotel night costs 120 euros.")
    old = await gateway.make_document(space_id, "Old", b"A hotel night costs 90 euros.")
    citation = next(hit["citationId"] for hit in await hits(gateway) if hit["documentId"] == old)

    body = {"expectedVersion": 1, "reason": "It is out of date."}
    assert (await gateway.post(f"/documents/{old}:delete", body)).status_code == 202
    for _ in range(2):
        assert {hit["documentId"] for hit in await hits(gateway)} == {kept}
        checked_error(
            await gateway.get(f"/citations/{citation}", contextBefore=0, contextAfter=0), 404, "KNOWLEDGE_NOT_FOUND"
        )
        assert len(await shown(gateway, space_id)) == 2
        await run_purges(gateway.parts.database, gateway.provider, gateway.parts.store, gateway.parts.around)

    gateway.clock.move(LAG)
    assert len(await shown(gateway, space_id)) == 1
    assert {hit["documentId"] for hit in await hits(gateway)} == {kept}


async def hits(gateway: Gateway) -> list[dict[str, str]]:
    answer = await gateway.post("/search", QUESTION)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, str]] = answer.json()["data"]["hits"]
    return found


async def shown(gateway: Gateway, space_id: str) -> set[str]:
    """The documents that the provider itself answers with."""
    space = SpaceRef(space_id=SpaceId(space_id), profile=PROFILE)
    allowed = [document.native_id for document in await gateway.provider.list_documents(space)]
    (ranking,) = await gateway.provider.search(Question(text=QUESTION["query"], allowed=[(space, allowed)], limit=9))
    return {passage.native_document_id for passage in ranking.passages}
