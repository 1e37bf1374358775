"""Row 10 of the client's list: pages, and metadata to the letter; and what searches are narrowed by."""

import unicodedata
from dataclasses import replace
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import Client, expect
from tests.conformance.identity import User
from tests.conformance.scenarios.acts import hits, lock, new_document, new_space, submit
from tests.conformance.scenarios.scenario import World, rule

FIELD: Final = "KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED"
VALUE: Final = "KNOWLEDGE_METADATA_VALUE_INVALID"
FILTER_FIELD: Final = "KNOWLEDGE_METADATA_FILTER_FIELD_NOT_ALLOWED"
COMPOSED: Final = "Café"
DECOMPOSED: Final = unicodedata.normalize("NFD", COMPOSED)
SPACES: Final = "\ufeff\u00a0\u3000 "
"""What JavaScript trims."""
COUNTER: Final = User(subject="connie", tenant="counting")

TEXT: Final = b"# Harbour\n\n## Cranes\n\nThe harbour crane lifts forty tonnes in calm weather.\n"
WORDS: Final = "How much does the harbour crane lift?"


@rule("R10 pages put together are the whole list, in the order in which things were made")
async def pages_add_up(world: World) -> None:
    client = world.speaker.of(COUNTER)
    made = [await new_space(client) for _ in range(5)]
    for size in (1, 2, 3, 5, 20):
        seen: list[str] = []
        for page in range(1, -(-5 // size) + 1):
            items = (await client.ask("space_list", query={"page": page, "pageSize": size}))["items"]
            seen += [item["spaceId"] for item in items]
        expect(seen == made, f"pages of {size} gave {seen} and not {made}")


@rule("R10 a page past the last is empty and still counts")
async def pages_past_the_end(world: World) -> None:
    client = world.speaker.of(replace(COUNTER, tenant="counting-past"))
    space_id = await new_space(client)
    for tool, ids in (("space_list", ()), ("document_list", (space_id,))):
        answer = await client.call(tool, *ids, query={"page": 9, "pageSize": 20})
        total = 1 if tool == "space_list" else 0
        expect(answer.data == {"items": []}, f"{tool} holds {answer.data}")
        expect(answer.meta["pagination"]["totalItems"] == total, f"{tool}: {answer.meta['pagination']}")


@rule("R10 documents are listed page by page in the order in which they were made, with their lock")
async def lists_documents(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    made = [(await submit(client, space_id, f"{number}.md"))["documentId"] for number in range(5)]
    seen: list[str] = []
    for page in (1, 2, 3):
        items = (await client.ask("document_list", space_id, query={"page": page, "pageSize": 2}))["items"]
        seen += [item["documentId"] for item in items]
    expect(seen == made, f"they are listed as {seen}")
    document_id = await new_document(client, space_id)
    detail = await client.ask("document_get", document_id)
    items = (await client.ask("document_list", space_id, query={"page": 1, "pageSize": 20}))["items"]
    item = next(item for item in items if item["documentId"] == document_id)
    for ours, theirs in (("version", "lockVersion"), ("name", "name"), ("status", "status"), ("metadata", "metadata")):
        expect(item[ours] == detail[theirs], f"{ours} is {item[ours]} in lists and {detail[theirs]} in full")
    told = (item["activeVersion"]["versionId"], item["activeVersion"]["versionNumber"])
    expect(told == (detail["activeVersion"]["versionId"], 1), f"the version is {told}")


async def with_metadata(client: Client, space_id: str, metadata: Json) -> Json:
    """The metadata of a document that was uploaded with these."""
    accepted = await submit(client, space_id, metadata=metadata)
    return (await client.ask("document_get", accepted["documentId"]))["metadata"]


@rule("R10 metadata are kept in NFC and trimmed as JavaScript trims, tags in their order")
async def normalises_metadata(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    given = {
        "category": f"{SPACES}{DECOMPOSED}{SPACES}",
        "tags": ["z", f" {DECOMPOSED} ", "a", "财务\ufeff"],
        "versionLabel": "𝄞" * 64,
    }
    kept = await with_metadata(client, space_id, given)
    wanted = {
        "category": COMPOSED,
        "tags": ["z", COMPOSED, "a", "财务"],
        "versionLabel": "𝄞" * 64,
        "productCode": None,
    }
    expect(kept == wanted, f"they are {kept}")
    nothing: Json = {"category": None, "tags": [], "versionLabel": None, "productCode": None}
    expect(await with_metadata(client, space_id, {}) == nothing, "empty ones are not empty")


@rule("R10 metadata that break a rule are refused with the rule's own code")
async def refuses_metadata(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    body = {"fileResourceId": "of-nobody", "documentName": "name"}
    wrong: tuple[tuple[str, Json], ...] = (
        (FIELD, {"colour": "red"}),
        (FIELD, {"__proto__": {}}),
        (VALUE, {"category": None}),
        (VALUE, {"tags": None}),
        (VALUE, {"category": SPACES}),
        (VALUE, {"category": "x" * 65}),
        (VALUE, {"category": "a\u0085"}),
        (VALUE, {"category": "\u001ca"}),
        (VALUE, {"tags": ["x" * 33]}),
        (VALUE, {"tags": [" 财务 ", "财务"]}),
        (VALUE, {"tags": [COMPOSED, DECOMPOSED]}),
        (VALUE, {"tags": [str(number) for number in range(21)]}),
        (VALUE, {"productCode": 7}),
        (VALUE, "text"),
    )
    for code, metadata in wrong:
        await client.refused(code, "document_upload", space_id, body=body | {"metadata": metadata})
    document_id = await new_document(client, space_id)
    patch = {"expectedVersion": 0, "metadata": {"tags": None}}
    await client.refused(VALUE, "document_update", document_id, body=patch)
    first = {"documentName": "", "surplus": 1, "metadata": {"category": ""}}
    await client.refused(VALUE, "document_upload", space_id, body=first)


@rule("R10 a patch keeps what it leaves out, and clears by null and by no tags")
async def patches_metadata(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    whole = {"category": "law", "tags": ["a", "b"], "versionLabel": "v1", "productCode": "p"}
    document_id = await new_document(client, space_id, metadata=whole)

    async def patched(**metadata: Json) -> Json:
        body = {"expectedVersion": await lock(client, document_id), "metadata": metadata}
        changed = await client.ask("document_update", document_id, body=body)
        detail = await client.ask("document_get", document_id)
        told = (changed["metadata"], changed["version"])
        expect(told == (detail["metadata"], detail["lockVersion"]), f"the answer says {told}")
        return changed["metadata"]

    expect(await patched(category=" tax ") == whole | {"category": "tax"}, "a field was not changed alone")
    expect(await patched(versionLabel=None) == whole | {"category": "tax", "versionLabel": None}, "null did not clear")
    expect((await patched(tags=[]))["tags"] == [], "no tags did not clear")
    renamed = {"expectedVersion": await lock(client, document_id), "name": "𝄞" * 255, "metadata": {}}
    changed = await client.ask("document_update", document_id, body=renamed)
    expect((changed["name"], changed["metadata"]["category"]) == ("𝄞" * 255, "tax"), f"{changed}")


@rule("R10 a filter means all of its fields, any of a field's values, and every one of tagsAll")
async def filters(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    red = await new_document(client, space_id, metadata={"category": "law", "tags": ["red", COMPOSED]}, content=TEXT)
    blue = await new_document(client, space_id, metadata={"category": "tax", "tags": ["blue", "red"]}, content=TEXT)
    plain = await new_document(client, space_id, content=TEXT)
    cases: tuple[tuple[Json, set[str]], ...] = (
        ({}, {red, blue, plain}),
        ({"category": ["law"]}, {red}),
        ({"category": ["law", "tax"]}, {red, blue}),
        ({"category": ["none"]}, set()),
        ({"tagsAny": ["blue", COMPOSED]}, {red, blue}),
        ({"tagsAll": ["red"]}, {red, blue}),
        ({"tagsAll": ["red", "blue"]}, {blue}),
        ({"tagsAny": [f" {DECOMPOSED} "]}, {red}),
        ({"category": ["law"], "tagsAny": ["blue"]}, set()),
        ({"category": ["tax"], "tagsAny": ["blue"], "tagsAll": ["red"]}, {blue}),
    )
    for wanted, documents in cases:
        found = await hits(client, WORDS, knowledgeSpaceIds=[space_id], metadataFilter=wanted)
        got = {hit["documentId"] for hit in found}
        expect(got == documents, f"{wanted} found {len(got)} documents and not {len(documents)}")


@rule("R10 a filter's empty list, its unknown field and its bad value are refused")
async def refuses_filters(world: World) -> None:
    wrong: tuple[tuple[str, Json], ...] = (
        (FILTER_FIELD, {"tags": ["a"]}),
        (FILTER_FIELD, {"colour": ["red"]}),
        (VALUE, {"category": []}),
        (VALUE, {"tagsAny": []}),
        (VALUE, {"tagsAll": ["a", " a "]}),
        (VALUE, {"category": "law"}),
        (VALUE, {"category": None}),
        (VALUE, {"productCode": ["a\u0007"]}),
    )
    for code, metadata_filter in wrong:
        await world.speaker.refused(code, "search", body={"query": WORDS, "metadataFilter": metadata_filter})


@rule("R8 a search keeps to its limit, its spaces and its documents, and narrows by both")
async def keeps_to_scope(world: World) -> None:
    client = world.speaker
    spaces = [await new_space(client) for _ in range(2)]
    long = b"\n\n".join(TEXT.replace(b"forty", str(number).encode()) * 8 for number in range(10, 20))
    documents = [await new_document(client, space, f"{number}.md", long) for number in range(2) for space in spaces]
    for limit in (1, 3, 8):
        found = await hits(client, WORDS, limit=limit, knowledgeSpaceIds=spaces)
        expect(0 < len(found) <= limit, f"limit {limit} gave {len(found)}")
    for number, space_id in enumerate(spaces):
        got = {hit["documentId"] for hit in await hits(client, WORDS, knowledgeSpaceIds=[space_id])}
        expect(bool(got) and got <= set(documents[number::2]), f"space {number} gave {got}")
    got = {hit["documentId"] for hit in await hits(client, WORDS, documentIds=documents[:1])}
    expect(got == {documents[0]}, f"one document gave {got}")
    both = await hits(client, WORDS, knowledgeSpaceIds=spaces[:1], documentIds=documents[1:2])
    expect(both == [], "a document of another space was found")


@rule("R8 no evidence is an empty result with its reason, and the query comes back as it was sent")
async def says_when_there_is_nothing(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    for query in (f" {DECOMPOSED}  \n", "nothing\tat all", "𝄞"):
        result = await client.ask("search", body={"query": query, "knowledgeSpaceIds": [space_id]})
        expect(result["hits"] == [], f"{query!r} found something")
        expect(result.get("query", query) == query, f"{query!r} came back as {result['query']!r}")
    await new_document(client, space_id, content=TEXT)
    result = await client.ask("search", body={"query": f" {WORDS}\n", "knowledgeSpaceIds": [space_id]})
    expect((result["query"], bool(result["hits"])) == (f" {WORDS}\n", True), f"{result['query']!r}")


SCENARIOS: Final = (
    pages_add_up,
    pages_past_the_end,
    lists_documents,
    normalises_metadata,
    refuses_metadata,
    patches_metadata,
    filters,
    refuses_filters,
    keeps_to_scope,
    says_when_there_is_nothing,
)
