"""Row 3 of the client's list: nobody sees or does what they may not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import Client, expect
from tests.conformance.contract import ROUTES
from tests.conformance.identity import ALICE, BOB, FOREIGNER, RITA, User
from tests.conformance.scenarios.acts import hits, new_document, new_file, new_space, space_request, submit
from tests.conformance.scenarios.requests import LOCK, REASON
from tests.conformance.scenarios.scenario import World, rule

WORDS: Final = "When does the ferry leave?"
UNKNOWN: Final = "of-nobody"
OTHER_DOMAIN: Final = User(subject="alice", domains=("elsewhere",))
STRANGERS: Final = (BOB, FOREIGNER, OTHER_DOMAIN)
"""One of the same tenant without a grant, one of another tenant, and the owner without the security domain."""

SPACE: Final = "SPACE_NOT_FOUND"
DOCUMENT: Final = "DOCUMENT_NOT_FOUND"
OPERATION: Final = "OPERATION_NOT_FOUND"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """What Alice has."""

    space_id: str
    document_id: str
    operation_id: str
    citation_id: str


async def owned_by(client: Client) -> Owned:
    """A space of hers with a document in it."""
    space_id = await new_space(client)
    document_id = await new_document(client, space_id)
    detail = await client.ask("document_get", document_id)
    hit = (await hits(client, WORDS, documentIds=[document_id]))[0]
    return Owned(
        space_id=space_id,
        document_id=document_id,
        operation_id=detail["activeVersion"]["operationId"],
        citation_id=hit["citationId"],
    )


def calls_on(owned: Owned) -> Mapping[str, tuple[str, str, Json]]:
    """By tool: the id, the code of its absence, and a body, for every route that names something in its path."""
    space, document, operation = owned.space_id, owned.document_id, owned.operation_id
    file = {"fileResourceId": UNKNOWN}
    return {
        "space_get": (space, SPACE, None),
        "space_update": (space, SPACE, {"expectedVersion": 1, "name": "mine"}),
        "space_delete": (space, SPACE, {"expectedVersion": 1} | REASON),
        "document_list": (space, SPACE, None),
        "document_upload": (space, SPACE, file | {"documentName": "mine"}),
        "document_get": (document, DOCUMENT, None),
        "document_update": (document, DOCUMENT, LOCK | {"name": "mine"}),
        "document_replace": (document, DOCUMENT, LOCK | file),
        "document_enable": (document, DOCUMENT, LOCK),
        "document_disable": (document, DOCUMENT, LOCK),
        "document_reindex": (document, DOCUMENT, LOCK),
        "document_delete": (document, DOCUMENT, LOCK | REASON),
        "document_download": (document, DOCUMENT, {}),
        "source_read": (owned.citation_id, "KNOWLEDGE_NOT_FOUND", None),
        "operation_get": (operation, OPERATION, None),
        "operation_cancel": (operation, OPERATION, REASON),
        "operation_retry": (operation, OPERATION, REASON),
    }


@rule("R3 what is another's is not found, by any route, and says what an id of nobody says")
async def hides_what_is_others(world: World) -> None:
    client = world.speaker
    owned = await owned_by(client)
    before = await client.ask("document_get", owned.document_id)
    calls = calls_on(owned)
    expect(len(calls) == sum("{" in route.path for route in ROUTES.values()), "a route with an id is left out")
    for tool, (of_alice, code, body) in calls.items():
        unknown = await client.refused(code, tool, UNKNOWN, body=body)
        for user in STRANGERS:
            foreign = await client.of(user).refused(code, tool, of_alice, body=body)
            expect(foreign.error == unknown.error, f"{tool} tells {user} that it is there")
    expect(await client.ask("document_get", owned.document_id) == before, "the document was changed")


@rule("R3 ids in bodies are as hidden as ids in paths")
async def hides_ids_in_bodies(world: World) -> None:
    client = world.speaker
    owned = await owned_by(client)
    resource = await new_file(client)
    for user in STRANGERS:
        stranger = client.of(user)
        for code, narrowed in ((SPACE, "knowledgeSpaceIds"), (DOCUMENT, "documentIds")):
            of_alice = owned.space_id if code == SPACE else owned.document_id
            for one in (of_alice, UNKNOWN):
                await stranger.refused(code, "search", body={"query": WORDS, narrowed: [one]})
    for user in (BOB, FOREIGNER):
        stranger = client.of(user)
        space_id = await new_space(stranger)
        for one in (resource, UNKNOWN):
            body = {"fileResourceId": one, "documentName": "mine"}
            await stranger.refused("FILE_NOT_FOUND", "document_upload", space_id, body=body)


@rule("R3 a search without ids finds nothing of others")
async def searches_ones_own(world: World) -> None:
    await owned_by(world.speaker)
    for user in STRANGERS:
        result = await world.speaker.of(replace(user, subject="mallory")).ask("search", body={"query": WORDS})
        expect(result["hits"] == [], f"{user} found {len(result['hits'])}")


@rule("R3 lists hold and count what one may see, and nothing else")
async def lists_ones_own(world: World) -> None:
    await owned_by(world.speaker)
    for user in STRANGERS:
        stranger = replace(user, subject="mallory")
        answer = await world.speaker.of(stranger).call("space_list", query={"page": 1, "pageSize": 20})
        expect((answer.data["items"], answer.meta["pagination"]["totalItems"]) == ([], 0), f"{answer.data}")


@rule("R3 a role that reads may change nothing, whatever tool set an agent has")
async def lets_readers_read(world: World) -> None:
    owned = await owned_by(world.speaker)
    calls = calls_on(owned)
    reader = world.speaker.of(replace(ALICE, roles=RITA.roles))
    await reader.ask("document_get", owned.document_id)
    await reader.refused("KNOWLEDGE_FORBIDDEN", "space_create", body=space_request())
    for route in ROUTES.values():
        tool = route.tool.removeprefix("knowledge_")
        if route.wants_key and tool in calls:
            one, _, body = calls[tool]
            await reader.refused("KNOWLEDGE_FORBIDDEN", tool, one, body=body)


@rule("R3 a caller without any role may do nothing")
async def needs_a_role(world: World) -> None:
    nobody = world.speaker.of(replace(ALICE, roles=()))
    await nobody.refused("KNOWLEDGE_FORBIDDEN", "space_list")
    await nobody.refused("KNOWLEDGE_FORBIDDEN", "search", body={"query": WORDS})


@rule("R3 a space is made in a security domain of one's own")
async def keeps_to_domains(world: World) -> None:
    body = space_request(defaultSecurityDomainCode="elsewhere")
    await world.speaker.refused("KNOWLEDGE_FORBIDDEN", "space_create", body=body)


@rule("R3 the end of an operation opens nothing to whoever may not see what it is about")
async def hides_results(world: World) -> None:
    client = world.speaker
    accepted = await submit(client, await new_space(client))
    await client.of(BOB).refused(OPERATION, "operation_get", accepted["operationId"])
    less = replace(ALICE, domains=("elsewhere",))
    await client.of(less).refused(OPERATION, "operation_get", accepted["operationId"])


SCENARIOS: Final = (
    hides_what_is_others,
    hides_ids_in_bodies,
    searches_ones_own,
    lists_ones_own,
    lets_readers_read,
    needs_a_role,
    keeps_to_domains,
    hides_results,
)
