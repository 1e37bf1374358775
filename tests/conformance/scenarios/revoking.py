"""Row 9 of the client's list: what is taken away is gone at once, even from under a search that is on its way."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace as changed
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import Client, expect
from tests.conformance.identity import ALICE, RITA
from tests.conformance.scenarios.acts import end_of, hits, lock, new_document, new_space, replace, submit, until
from tests.conformance.scenarios.administration import grant, revoke_grant
from tests.conformance.scenarios.replacing import NEW, OLD, WORDS, candidate_in, odd_name, texts
from tests.conformance.scenarios.scenario import World, rule
from tests.conformance.stage import EVERY_FILE

SEARCH_TAKES: Final = "PT3S"
WELL_UNDER_WAY: Final = 0.4
"""Seconds after which such a search waits for its provider."""

OVER: Final = {"reason": "over"}


async def cited_document(client: Client) -> tuple[str, str]:
    """A document with the old text, and a citation of it."""
    document_id = await new_document(client, await new_space(client), odd_name("old"), OLD)
    return document_id, (await hits(client, WORDS, documentIds=[document_id]))[0]["citationId"]


async def switch(client: Client, document_id: str, action: str, **more: Json) -> Json:
    """Enable, disable or delete a document."""
    body = {"expectedVersion": await lock(client, document_id)} | more
    return await client.ask(f"document_{action}", document_id, body=body)


async def found_during(world: World, client: Client, document_id: str, act: Callable[[], Awaitable[object]]) -> Json:
    """What a search in the document's space finds during which something happens."""
    space_id = (await client.ask("document_get", document_id))["spaceId"]
    body = {"query": WORDS, "knowledgeSpaceIds": [space_id]}
    world.gateway.tell(EVERY_FILE, delays={"search": SEARCH_TAKES})
    try:
        searching = asyncio.create_task(client.call("search", body=body))
        await asyncio.sleep(WELL_UNDER_WAY)
        await act()
        expect(not searching.done(), "the search was over before")
        return await searching
    finally:
        world.gateway.tell(EVERY_FILE)


@rule("R9 a disabled document is not searched, cited or brought, and is again when it is enabled")
async def disables(world: World) -> None:
    client = world.speaker
    document_id, citation_id = await cited_document(client)
    link = await client.ask("document_download", document_id, body={})
    answered = await switch(client, document_id, "disable")
    expect(answered["status"] == "DISABLED", f"it is {answered['status']}")
    detail = await client.ask("document_get", document_id)
    told = (detail["status"], detail["searchable"], detail["activeVersion"]["status"])
    expect(told == ("DISABLED", False, "READY"), f"it is {told}")
    expect(await texts(client, document_id) == "", "it is found")
    await client.refused("KNOWLEDGE_NOT_FOUND", "source_read", citation_id)
    expect((await client.fetch(link["downloadUrl"])).status_code in {403, 404, 410}, "its link still brings it")
    again = await switch(client, document_id, "enable")
    expect(again["status"] == "ACTIVE", f"it is {again['status']}")
    expect("granite" in await texts(client, document_id), "it is not found again")
    await client.ask("source_read", citation_id)


@rule("R9 a deleted document is not found by any route, while its delete can be followed to its end")
async def deletes(world: World) -> None:
    client = world.speaker
    document_id, citation_id = await cited_document(client)
    link = await client.ask("document_download", document_id, body={})
    space_id = (await client.ask("document_get", document_id))["spaceId"]
    accepted = await switch(client, document_id, "delete", **OVER)
    locked: Json = {"expectedVersion": 9}
    for tool, body in (
        ("document_get", None),
        ("document_download", {}),
        ("document_update", locked | {"name": "back"}),
        ("document_enable", locked),
        ("document_reindex", locked),
        ("document_delete", locked | OVER),
    ):
        await client.refused("DOCUMENT_NOT_FOUND", tool, document_id, body=body)
    await client.refused("KNOWLEDGE_NOT_FOUND", "source_read", citation_id)
    await client.refused("DOCUMENT_NOT_FOUND", "search", body={"query": WORDS, "documentIds": [document_id]})
    expect((await client.ask("document_list", space_id))["items"] == [], "it is still listed")
    expect((await client.fetch(link["downloadUrl"])).status_code in {403, 404, 410}, "its link still brings it")
    ended = await end_of(client, accepted["operationId"])
    told = (ended["status"], ended["operationType"], ended["resourceId"])
    expect(told == ("SUCCEEDED", "DOCUMENT_DELETE", document_id), f"it ended as {told}")


@rule("R9 a document deleted while it is worked on never appears, and its work ends")
async def deletes_under_work(world: World) -> None:
    client, name = world.speaker, odd_name("slow")
    world.gateway.tell(name, ingestTime="PT1S")
    space_id = await new_space(client)
    accepted = await submit(client, space_id, name, NEW)
    deleted = await switch(client, accepted["documentId"], "delete", **OVER)
    ended = await end_of(client, accepted["operationId"])
    expect(ended["status"] == "CANCELLED", f"its work ended as {ended['status']}")
    expect((await end_of(client, deleted["operationId"]))["status"] == "SUCCEEDED", "the delete did not succeed")
    await client.refused("DOCUMENT_NOT_FOUND", "document_get", accepted["documentId"])
    expect(await hits(client, WORDS, knowledgeSpaceIds=[space_id]) == [], "it is found")


@rule("R9 a version that is ready late takes its place in a disabled document and leaves it disabled")
async def activates_late(world: World) -> None:
    client, name = world.speaker, odd_name("slow")
    document_id, _ = await cited_document(client)
    world.gateway.tell(name, ingestTime="PT1S")
    accepted = await replace(client, document_id, name, NEW)
    await candidate_in(client, document_id, "UPLOADING", "UPLOADED", "INGESTING")
    await switch(client, document_id, "disable")
    expect((await end_of(client, accepted["operationId"]))["status"] == "SUCCEEDED", "it did not succeed")
    detail = await client.ask("document_get", document_id)
    told = (detail["status"], detail["searchable"], detail["activeVersion"]["versionNo"])
    expect(told == ("DISABLED", False, 2), f"it is {told}")
    expect(await texts(client, document_id) == "", "it is found")


@rule("R9 a search that is on its way does not bring what was disabled meanwhile")
async def looks_again_for_disabled(world: World) -> None:
    client = world.speaker
    document_id, _ = await cited_document(client)
    answer = await found_during(world, client, document_id, lambda: switch(client, document_id, "disable"))
    expect(answer.is_success and answer.data["hits"] == [], f"it answered {answer.status} {answer.data}")


@rule("R9 a search that is on its way brings the version that serves at its end, never nothing")
async def looks_again_for_switched(world: World) -> None:
    client = world.speaker
    document_id, _ = await cited_document(client)

    async def act() -> None:
        accepted = await replace(client, document_id, odd_name("new"), NEW)
        await end_of(client, accepted["operationId"])

    answer = await found_during(world, client, document_id, act)
    shown = " ".join(hit["content"] for hit in answer.data["hits"]) if answer.is_success else ""
    expect("marble" in shown and "granite" not in shown, f"it answered {answer.status} {shown!r}")


@rule("R9 a grant opens a space to whoever it names, and taking it back closes it at once")
async def grants(world: World) -> None:
    client = world.speaker
    document_id, citation_id = await cited_document(client)
    space_id = (await client.ask("document_get", document_id))["spaceId"]
    rita = client.of(RITA)
    await rita.refused("DOCUMENT_NOT_FOUND", "document_get", document_id)
    await grant(world, space_id, RITA.subject)
    await rita.ask("document_get", document_id)
    expect("granite" in await texts(rita, document_id), "she does not find it")
    await rita.ask("source_read", citation_id)
    link = await rita.ask("document_download", document_id, body={})
    await revoke_grant(world, space_id, RITA.subject)
    await rita.refused("DOCUMENT_NOT_FOUND", "document_get", document_id)
    await rita.refused("KNOWLEDGE_NOT_FOUND", "source_read", citation_id)
    await rita.refused("SPACE_NOT_FOUND", "space_get", space_id)
    expect((await rita.fetch(link["downloadUrl"])).status_code in {403, 404, 410}, "her link still brings it")


@rule("R9 a search that is on its way does not bring what its caller may not see any more")
async def looks_again_for_revoked(world: World) -> None:
    client = world.speaker
    document_id, _ = await cited_document(client)
    space_id = (await client.ask("document_get", document_id))["spaceId"]
    await grant(world, space_id, RITA.subject)
    rita = client.of(RITA)
    answer = await found_during(world, rita, document_id, lambda: revoke_grant(world, space_id, RITA.subject))
    is_nothing = (answer.is_success and answer.data["hits"] == []) or answer.code == "SPACE_NOT_FOUND"
    expect(is_nothing, f"it answered {answer.status} {answer.data}")


@rule("R9 an operation is looked at with the rights of the moment")
async def asks_anew_for_operations(world: World) -> None:
    client = world.speaker
    accepted = await submit(client, await new_space(client), odd_name("new"), NEW)
    await end_of(client, accepted["operationId"])
    less = changed(ALICE, domains=())
    await client.of(less).refused("OPERATION_NOT_FOUND", "operation_get", accepted["operationId"])
    await until(
        lambda: client.ask("operation_get", accepted["operationId"]), lambda seen: bool(seen["status"]), "the operation"
    )


SCENARIOS: Final = (
    disables,
    deletes,
    deletes_under_work,
    activates_late,
    looks_again_for_disabled,
    looks_again_for_switched,
    grants,
    looks_again_for_revoked,
    asks_anew_for_operations,
)
