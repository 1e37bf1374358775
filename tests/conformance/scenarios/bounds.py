"""Answers keep within their bounds whatever a provider brings: long passages, many of them, characters of any plane."""

from typing import Final

from tests.conformance.client import Client, expect
from tests.conformance.contract import LIMITS
from tests.conformance.scenarios.acts import hits, new_document, new_space
from tests.conformance.scenarios.replacing import odd_name
from tests.conformance.scenarios.scenario import World, rule

SEARCH: Final = LIMITS["search"]
CITATION: Final = LIMITS["citation"]
DOCUMENTS: Final = 8
PASSAGES: Final = 6
LONG: Final = 4000
"""Code points of one passage, more than a hit or a citation may show."""
WORDS: Final = "obsidian"


async def crowded_space(client: Client) -> str:
    """A space of documents in each of which there are many long passages about the same."""
    space_id = await new_space(client)
    for document in range(DOCUMENTS):
        passages = [f"{WORDS} {document} {number} ".ljust(LONG, "𝄞") for number in range(PASSAGES)]
        await new_document(client, space_id, odd_name("long"), "\n\n".join(passages).encode())
    return space_id


@rule("S a search shows 8 hits, 4 of a document and 16,000 code points at most, of much more that it found")
async def bounds_searches(world: World) -> None:
    client = world.speaker
    space_id = await crowded_space(client)
    found = await hits(client, WORDS, knowledgeSpaceIds=[space_id])
    shown = sum(len(hit["content"]) for hit in found)
    expect(SEARCH["totalCodePoints"] * 3 // 4 < shown <= SEARCH["totalCodePoints"], f"{shown} code points are shown")
    one = found[0]["documentId"]
    of_one = await hits(client, WORDS, documentIds=[one])
    expect(len(of_one) == SEARCH["hitsPerDocument"], f"{len(of_one)} of one document are shown")


@rule("C a citation of a long passage is cut, says so, and has its context beside it")
async def bounds_citations(world: World) -> None:
    client = world.speaker
    document_id = await new_document(
        client,
        await new_space(client),
        odd_name("long"),
        "\n\n".join(f"{word} ".ljust(LONG, "𝄞") for word in ("before", "before", WORDS, "after", "after")).encode(),
    )
    hit = (await hits(client, WORDS, documentIds=[document_id]))[0]
    query = {"contextBefore": CITATION["before"], "contextAfter": CITATION["after"]}
    source = await client.ask("source_read", hit["citationId"], query=query)
    told = (len(source["matchedContent"]), source["matchedContentTruncated"])
    expect(told == (CITATION["match"], True), f"the passage is {told}")
    told = (source["actualContextBefore"], source["actualContextAfter"])
    expect(told == (CITATION["before"], CITATION["after"]), f"its context is {told}")
    expect(source["matchedContent"].startswith(WORDS), "it is another passage")


SCENARIOS: Final = (bounds_searches, bounds_citations)
