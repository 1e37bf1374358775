"""Spaces from their creation to their end, and what each of their states refuses."""

from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import expect
from tests.conformance.scenarios.acts import end_of, lock, new_document, new_file, new_space, space_in, space_request
from tests.conformance.scenarios.administration import switch_space
from tests.conformance.scenarios.replacing import NEW, WORDS, odd_name
from tests.conformance.scenarios.scenario import World, rule
from tests.conformance.stage import EVERY_FILE

OVER: Final = {"reason": "over"}
DISABLED: Final = "SPACE_DISABLED"


@rule("SPACE a space is CREATING at first, and takes documents when it is ACTIVE")
async def creates(world: World) -> None:
    client = world.speaker
    resource = await new_file(client)
    world.gateway.tell(EVERY_FILE, delays={"provision": "PT1S"})
    try:
        body = space_request(description="What it is for")
        created = await client.ask("space_create", body=body)
        told = (created["status"], created["version"])
        expect(told == ("CREATING", 1), f"it is {told}")
        upload = {"fileResourceId": resource, "documentName": "early"}
        await client.refused("KNOWLEDGE_OPERATION_PENDING", "document_upload", created["spaceId"], body=upload)
        gone = {"expectedVersion": 1} | OVER
        await client.refused("SPACE_HAS_PENDING_OPERATIONS", "space_delete", created["spaceId"], body=gone)
        space = await space_in(client, created["spaceId"], "ACTIVE")
    finally:
        world.gateway.tell(EVERY_FILE)
    wanted = body | {"spaceId": created["spaceId"], "status": "ACTIVE", "version": 1}
    expect(space == wanted, f"it is {space}")


@rule("SPACE a code is used once in a tenant, and again when its space is deleted")
async def uses_codes_once(world: World) -> None:
    client, body = world.speaker, space_request()
    created = await client.ask("space_create", body=body)
    await client.refused("KNOWLEDGE_CONFLICT", "space_create", body=body)
    await space_in(client, created["spaceId"], "ACTIVE")
    accepted = await client.ask("space_delete", created["spaceId"], body={"expectedVersion": 1} | OVER)
    expect(accepted["status"] in {"PENDING", "RUNNING"}, f"it was answered as {accepted['status']}")
    ended = await end_of(client, accepted["operationId"])
    told = (ended["status"], ended["operationType"], ended["resourceId"])
    expect(told == ("SUCCEEDED", "SPACE_DELETE", created["spaceId"]), f"it ended as {told}")
    await client.refused("SPACE_NOT_FOUND", "space_get", created["spaceId"])
    await client.ask("space_create", body=body)


@rule("SPACE an update changes what it names, from a current reading, and answers without the code")
async def updates(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client, description="first")
    updated = await client.ask("space_update", space_id, body={"expectedVersion": 1, "name": " Renamed 📚 "})
    told = (updated["name"], updated["description"], updated["version"])
    expect(told == (" Renamed 📚 ", "first", 2), f"it is {told}")
    updated = await client.ask("space_update", space_id, body={"expectedVersion": 2, "description": "second"})
    space = await client.ask("space_get", space_id)
    for field in updated:
        expect(updated[field] == space[field], f"{field} is {updated[field]} and {space[field]}")
    expect((space["description"], space["version"]) == ("second", 3), f"it is {space}")
    for stale in (1, 2, 4):
        await client.refused(
            "KNOWLEDGE_VERSION_CONFLICT", "space_update", space_id, body={"expectedVersion": stale, "name": "stale"}
        )
        await client.refused(
            "KNOWLEDGE_VERSION_CONFLICT", "space_delete", space_id, body={"expectedVersion": stale} | OVER
        )


@rule("SPACE an update that names nothing to change is refused")
async def wants_a_change(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    await client.refused("KNOWLEDGE_INVALID_INPUT", "space_update", space_id, body={"expectedVersion": 1})
    document_id = await new_document(client, space_id)
    body = {"expectedVersion": await lock(client, document_id)}
    await client.refused("KNOWLEDGE_INVALID_INPUT", "document_update", document_id, body=body)


@rule("SPACE a space is deleted when it is empty, and takes nothing with it")
async def deletes_empty_ones(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id)
    await client.refused("SPACE_NOT_EMPTY", "space_delete", space_id, body={"expectedVersion": 1} | OVER)
    body = {"expectedVersion": await lock(client, document_id)} | OVER
    deleted = await client.ask("document_delete", document_id, body=body)
    expect((await end_of(client, deleted["operationId"]))["status"] == "SUCCEEDED", "the document was not deleted")
    accepted = await client.ask("space_delete", space_id, body={"expectedVersion": 1} | OVER)
    expect((await end_of(client, accepted["operationId"]))["status"] == "SUCCEEDED", "it was not deleted")


@rule("SPACE a disabled space refuses searches and changes, and its documents stay as searchable as they were")
async def disables(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id, odd_name("kept"), NEW)
    version = await lock(client, document_id)
    await switch_space(world, space_id, enabled=False)
    expect((await client.ask("space_get", space_id))["status"] == "DISABLED", "it does not say so")
    detail = await client.ask("document_get", document_id)
    expect((detail["searchable"], detail["lockVersion"]) == (True, version), f"the document is {detail}")
    await client.refused(DISABLED, "search", body={"query": WORDS, "knowledgeSpaceIds": [space_id]})
    space_version = (await client.ask("space_get", space_id))["version"]
    resource = await new_file(client)
    locked: Json = {"expectedVersion": version}
    for tool, one, body in (
        ("space_update", space_id, {"expectedVersion": space_version, "name": "other"}),
        ("document_upload", space_id, {"fileResourceId": resource, "documentName": "other"}),
        ("document_update", document_id, locked | {"name": "other"}),
        ("document_replace", document_id, locked | {"fileResourceId": resource}),
        ("document_disable", document_id, locked),
        ("document_reindex", document_id, locked),
        ("document_delete", document_id, locked | OVER),
    ):
        await client.refused(DISABLED, tool, one, body=body)
    await switch_space(world, space_id, enabled=True)
    found = await client.ask("search", body={"query": WORDS, "knowledgeSpaceIds": [space_id]})
    expect(bool(found["hits"]), "it finds nothing after it was enabled again")


SCENARIOS: Final = (creates, uses_codes_once, updates, wants_a_change, deletes_empty_ones, disables)
