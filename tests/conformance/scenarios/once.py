"""Row 6 of the client's list: once each, from a current reading, and through crashes."""

import asyncio
import secrets
from dataclasses import replace
from typing import Final

from tests.conformance.answers import Answer, Json
from tests.conformance.client import Client, expect
from tests.conformance.identity import BOB, User
from tests.conformance.scenarios.acts import (
    end_of,
    hits,
    lock,
    new_document,
    new_file,
    new_space,
    space_request,
    submit,
    until,
)
from tests.conformance.scenarios.beside import replica
from tests.conformance.scenarios.replacing import NEW, OLD, WORDS, odd_name
from tests.conformance.scenarios.scenario import World, rule

AT_ONCE: Final = 12
TWIN: Final = User(subject="tess", tenant="twins")
STALE: Final = "DOCUMENT_VERSION_CONFLICT"


def new_key() -> str:
    """A key that nobody has used."""
    return f"knowledge:{secrets.token_hex(32)}"


@rule("R6 the same request with the same key takes effect once, whichever session and instance it comes to")
async def takes_effect_once(world: World) -> None:
    client, key = world.speaker.of(TWIN), new_key()
    space_id = await new_space(client)
    body = {"fileResourceId": await new_file(client), "documentName": "once"}
    async with replica(world, TWIN) as other:
        speakers = [client, other, client.of(replace(TWIN, session="session-2")), other]

        async def post(number: int) -> Answer:
            return await speakers[number % 4].call("document_upload", space_id, body=body, key=key)

        answers = await asyncio.gather(*map(post, range(AT_ONCE)))
        seen = {(answer.status, str(answer.data)) for answer in answers}
        expect(len(seen) == 1 and answers[0].status == 202, f"the answers were {seen}")
        accepted = answers[0].data
        for speaker in (client, other):
            known = await speaker.ask("operation_get", accepted["operationId"])
            expect(known["resourceId"] is not None, "a replica does not know it")
        listed = (await other.ask("document_list", space_id))["items"]
        expect([item["documentId"] for item in listed] == [accepted["documentId"]], f"{len(listed)} documents")
        await end_of(client, accepted["operationId"])
        late = await other.call("document_upload", space_id, body=body, key=key)
        expect((late.status, late.data) == (202, accepted), f"afterwards it answered {late.status} {late.data}")


@rule("R6 every mutation is replayed with the status and data of its first answer")
async def replays(world: World) -> None:
    client = world.speaker

    async def twice(tool: str, *ids: str, body: Json) -> Json:
        key = new_key()
        first = await client.call(tool, *ids, body=body, key=key)
        expect(first.is_success, f"{tool} answered {first.status} {first.code}")
        second = await client.call(tool, *ids, body=body, key=key)
        expect((first.status, first.data) == (second.status, second.data), f"{tool}: {second.status} {second.data}")
        expect(first.meta["requestId"] != second.meta["requestId"], f"{tool} replayed meta as well")
        return first.data

    space = await twice("space_create", body=space_request())
    space_id = space["spaceId"]
    await until(lambda: client.ask("space_get", space_id), lambda seen: bool(seen["status"] == "ACTIVE"), "the space")
    await twice("space_update", space_id, body={"expectedVersion": 1, "name": "renamed"})
    resource = await new_file(client)
    accepted = await twice("document_upload", space_id, body={"fileResourceId": resource, "documentName": "a"})
    document_id = accepted["documentId"]
    await end_of(client, accepted["operationId"])
    for tool, more in (
        ("document_update", {"name": "b"}),
        ("document_disable", {}),
        ("document_enable", {}),
        ("document_replace", {"fileResourceId": await new_file(client)}),
        ("document_reindex", {}),
        ("document_delete", {"reason": "over"}),
    ):
        answered = await twice(tool, document_id, body={"expectedVersion": await lock(client, document_id)} | more)
        if "operationId" in answered:
            await end_of(client, answered["operationId"])
    await twice("space_delete", space_id, body={"expectedVersion": 2, "reason": "over"})


@rule("R6 another request with a key that was used is a conflict")
async def refuses_used_keys(world: World) -> None:
    client, key = world.speaker, new_key()
    body = space_request()
    await client.ask("space_create", body=body, key=key)
    answer = await client.call("space_create", body=body | {"name": "another"}, key=key)
    client.must_be("KNOWLEDGE_CONFLICT", answer)


@rule("R6 a key is its user's and its route's own")
async def keeps_keys_apart(world: World) -> None:
    client, key = world.speaker, new_key()
    first = await client.ask("space_create", body=space_request(), key=key)
    second = await client.of(BOB).ask("space_create", body=space_request(), key=key)
    expect(first["spaceId"] != second["spaceId"], "another user was answered with it")
    space_id = await new_space(client)
    renamed = await client.ask("space_update", space_id, body={"expectedVersion": 1, "name": "mine"}, key=key)
    expect(renamed["name"] == "mine", "another route was answered with it")


@rule("R6 a key goes on being good while token and assertion change")
async def outlives_credentials(world: World) -> None:
    client, key, body = world.speaker, new_key(), space_request()
    first = await client.ask("space_create", body=body, key=key)
    fresh = {"Authorization": f"Bearer {client.issuer.next_token}", "Idempotency-Key": key}
    second = await client.call("space_create", body=body, headers=fresh)
    expect((second.status, second.data) == (201, first), f"it answered {second.status} {second.data}")


@rule("R6 a document's lock 0 is a version like any other, and a stale one is refused by every change")
async def wants_current_locks(world: World) -> None:
    client, name = world.speaker, odd_name("slow")
    world.gateway.tell(name, ingestTime="PT1S")
    accepted = await submit(client, await new_space(client), name, OLD)
    document_id = accepted["documentId"]
    expect(await lock(client, document_id) == 0, f"it begins with {await lock(client, document_id)}")
    changed = await client.ask("document_update", document_id, body={"expectedVersion": 0, "name": "zero"})
    expect(changed["version"] == 1, f"the change made it {changed['version']}")
    await end_of(client, accepted["operationId"])
    current = await lock(client, document_id)
    expect(current == 2, f"its activation made it {current}")
    resource = await new_file(client)
    for stale in (0, current - 1, current + 1):
        for tool, more in (
            ("document_update", {"name": "stale"}),
            ("document_replace", {"fileResourceId": resource}),
            ("document_enable", {}),
            ("document_disable", {}),
            ("document_reindex", {}),
            ("document_delete", {"reason": "stale"}),
        ):
            await client.refused(STALE, tool, document_id, body={"expectedVersion": stale} | more)
    expect(await lock(client, document_id) == current, "a refused change changed it")


@rule("R6 of changes made from the same reading at the same time one is taken")
async def takes_one_of_many(world: World) -> None:
    client = world.speaker
    document_id = await new_document(client, await new_space(client), odd_name("raced"), OLD)
    version = await lock(client, document_id)

    async def rename(number: int) -> Answer:
        body = {"expectedVersion": version, "name": f"name {number}"}
        return await client.call("document_update", document_id, body=body)

    answers = await asyncio.gather(*map(rename, range(AT_ONCE)))
    taken = [answer for answer in answers if answer.is_success]
    expect(len(taken) == 1, f"{len(taken)} were taken")
    expect({answer.code for answer in answers} == {"", STALE}, "the others were refused for another reason")
    expect(await lock(client, document_id) == version + 1, "it rose by more than one")


@rule("R6 work goes on after its worker was killed, and ends once")
async def survives_crashes(world: World) -> None:
    client, name = world.speaker, odd_name("crash")
    world.gateway.tell(name, delays={"start": "PT2S"})
    accepted = await submit(client, await new_space(client), name, OLD)
    await _running(client, accepted)
    world.gateway.kill("worker")
    ended = await end_of(client, accepted["operationId"])
    expect(ended["status"] == "SUCCEEDED", f"it ended as {ended['status']}")
    detail = await client.ask("document_get", accepted["documentId"])
    expect(detail["activeVersion"]["versionNo"] == 1, f"it is at version {detail['activeVersion']['versionNo']}")
    found = await hits(client, WORDS, documentIds=[accepted["documentId"]])
    expect(len(found) == 1, f"its one paragraph was found {len(found)} times")


@rule("R6 what was taken on is not lost with the projector that was killed")
async def survives_projector_crashes(world: World) -> None:
    client, name = world.speaker, odd_name("crash")
    world.gateway.tell(name, delays={"start": "PT1S"})
    accepted = await submit(client, await new_space(client), name, NEW)
    await _running(client, accepted)
    world.gateway.kill("projector")
    expect((await end_of(client, accepted["operationId"]))["status"] == "SUCCEEDED", "it did not succeed")


async def _running(client: Client, accepted: Json) -> None:
    await until(
        lambda: client.ask("document_get", accepted["documentId"]),
        lambda detail: bool(detail["candidateVersion"]["status"] == "INGESTING"),
        "the ingest",
    )


SCENARIOS: Final = (
    takes_effect_once,
    replays,
    refuses_used_keys,
    keeps_keys_apart,
    outlives_credentials,
    wants_current_locks,
    takes_one_of_many,
    survives_crashes,
    survives_projector_crashes,
)
