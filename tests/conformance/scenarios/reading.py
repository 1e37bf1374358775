"""Rows 4 and 8 of the client's list, and what is read: from an upload to its citation and its bytes."""

import secrets
from pathlib import Path
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import expect
from tests.conformance.scenarios.acts import (
    ENDS,
    end_of,
    hits,
    new_document,
    new_file,
    new_space,
    replace,
    submit,
    until,
)
from tests.conformance.scenarios.scenario import World, rule

HANDBOOK: Final = """\
# 阅览室 Reading room

## Opening hours

The reading room opens at nine 🕘 and closes at half past six 🕡; on Thursdays it stays open until ten.

## Lending

Maps and drawings 🗺️ are lent for four days, everything else for twenty-one days. 古籍不外借。

## Copies

Copies cost ten cents a page; photographs of maps are free of charge.
"""
LEASE: Final = Path(__file__).parents[2] / "corpus" / "files" / "lease-en.pdf"
QUESTION: Final = "For how long are maps lent?"


@rule("R4 a first upload goes from its file to a READY version, and search and citation show it")
async def uploads(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    resource = await new_file(client, "reading room.md", HANDBOOK.encode())
    body = {"fileResourceId": resource, "documentName": " Reading room 📚 "}
    accepted = await client.ask("document_upload", space_id, body=body)
    expect(accepted["status"] in {"PENDING", "RUNNING"}, f"it was answered as {accepted['status']}")
    document_id = accepted["documentId"]

    ended = await end_of(client, accepted["operationId"])
    told = (ended["status"], ended["operationType"], ended["nextPollAfterMs"], ended["retryable"])
    expect(told == ("SUCCEEDED", "DOCUMENT_UPLOAD", 0, False), f"the operation ended as {told}")
    detail = await client.ask("document_get", document_id)
    expect(detail["searchable"] and detail["candidateVersion"] is None, f"the document is {detail}")
    active = detail["activeVersion"]
    made = (active["versionNo"], active["changeType"], active["fileName"], active["fileSize"])
    expect(made == (1, "INITIAL_UPLOAD", "reading room.md", len(HANDBOOK.encode())), f"the version is {made}")
    expect(active["operationId"] == accepted["operationId"], "the version names another operation")
    expect((detail["spaceId"], detail["name"]) == (space_id, " Reading room 📚 "), f"{detail['name']!r}")

    found = await hits(client, QUESTION, documentIds=[document_id])
    hit = next(hit for hit in found if "four days" in hit["content"])
    expect(hit["chapterPath"][-1] == "Lending", f"the chapter is {hit['chapterPath']}")
    source = await client.ask("source_read", hit["citationId"])
    cited = (source["documentId"], source["versionId"], source["documentName"])
    expect(cited == (document_id, active["versionId"], detail["name"]), f"the citation is of {cited}")
    expect(hit["content"] == source["matchedContent"], "the citation shows another text than the hit")


@rule("R4 an operation that runs says when to look again, and one that has ended says so")
async def tells_when_to_look(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    accepted = await submit(client, space_id, "long.md", HANDBOOK.encode() * 20)

    async def look() -> Json:
        operation = await client.ask("operation_get", accepted["operationId"])
        is_over, wait = operation["status"] in ENDS, operation["nextPollAfterMs"]
        expect((wait == 0) == is_over, f"{operation['status']} says {wait}")
        return operation

    await until(look, lambda operation: operation["status"] in ENDS, "the end")


@rule("C a citation shows as much context as was asked for, in code points, out of the text itself")
async def cites(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id, "reading.md", HANDBOOK.encode())
    hit = (await hits(client, QUESTION, documentIds=[document_id]))[0]
    whole = await client.ask("source_read", hit["citationId"], query={"contextBefore": 5000, "contextAfter": 5000})
    text = whole["beforeContent"] + whole["matchedContent"] + whole["afterContent"]
    for character in "🕘🗺古":
        expect(character in text, f"{character} is not in the text")
    for before, after in ((0, 0), (1, 1), (7, 13), (20, 0)):
        query = {"contextBefore": before, "contextAfter": after}
        source = await client.ask("source_read", hit["citationId"], query=query)
        wanted = (
            whole["beforeContent"][max(0, len(whole["beforeContent"]) - before) :],
            whole["matchedContent"],
            whole["afterContent"][:after],
        )
        got = (source["beforeContent"], source["matchedContent"], source["afterContent"])
        expect(got == wanted, f"{before} and {after} gave {got}")


@rule("C a citation is the same for the same place, and says EXACT_OFFSET only of a place that is there")
async def cites_steadily(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id, "reading.md", HANDBOOK.encode())
    first, second = [await hits(client, QUESTION, documentIds=[document_id]) for _ in range(2)]
    expect([hit["citationId"] for hit in first] == [hit["citationId"] for hit in second], "they changed")
    flat = "".join(HANDBOOK.split())
    for hit in first:
        source = await client.ask("source_read", hit["citationId"])
        if source["locationPrecision"] == "EXACT_OFFSET":
            expect("".join(source["matchedContent"].split()).strip("#") in flat, source["matchedContent"])
        expect(source["matchedContentTruncated"] is False, "it calls itself truncated")


@rule("C a citation out of a file with pages says on which they are")
async def cites_pages(world: World) -> None:
    client = world.speaker
    document_id = await new_document(client, await new_space(client), "lease.pdf", LEASE.read_bytes())
    for hit in await hits(client, "When is the rent due?", documentIds=[document_id]):
        source = await client.ask("source_read", hit["citationId"])
        pages = (source["pageStart"], hit["page"], source["pageEnd"])
        expect(pages[0] <= pages[1] <= pages[2], f"start, hit and end are on {pages}")


@rule("C a context that is not within 0 to 5,000 code points has a code of its own")
async def bounds_contexts(world: World) -> None:
    for query in ({"contextBefore": 5001}, {"contextAfter": 5001}):
        await world.speaker.refused("INVALID_CONTEXT_RANGE", "source_read", "of-nothing", query=query)


@rule("C a citation that was made up, or changed in one letter, is not found")
async def seals_citations(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id, "reading.md", HANDBOOK.encode())
    citation_id = (await hits(client, QUESTION, documentIds=[document_id]))[0]["citationId"]
    middle = len(citation_id) // 2
    letter = "A" if citation_id[middle] != "A" else "B"
    changed = citation_id[:middle] + letter + citation_id[middle + 1 :]
    for made_up in (changed, citation_id[:-4], citation_id + "A", "made-up", "A" * 256):
        await client.refused("KNOWLEDGE_NOT_FOUND", "source_read", made_up)


@rule("L a link brings the very bytes of the active version, under the name they came with")
async def links(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id, "手册 2026.md", HANDBOOK.encode())
    link = await client.ask("document_download", document_id, body={})
    told = (link["fileName"], link["fileSize"])
    expect(told == ("手册 2026.md", len(HANDBOOK.encode())), f"it is {told}")
    active = (await client.ask("document_get", document_id))["activeVersion"]
    expect(link["versionId"] == active["versionId"], "it is of another version")
    fetched = await client.fetch(link["downloadUrl"])
    expect((fetched.status_code, fetched.content) == (200, HANDBOOK.encode()), f"it brought {fetched.status_code}")


@rule("L a link dies with the version that it was made for")
async def lets_links_die(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    document_id = await new_document(client, space_id)
    link = await client.ask("document_download", document_id, body={})
    await end_of(client, (await replace(client, document_id))["operationId"])
    fetched = await client.fetch(link["downloadUrl"])
    expect(fetched.status_code in {403, 404, 410}, f"it brought {fetched.status_code}")


@rule("R4 a file of the wrong kind, or too large a one, is refused before it is a document")
async def refuses_files(world: World) -> None:
    client = world.speaker
    program = b"\x7fELF\x02\x01\x01" + bytes(4096)
    client.must_be("FILE_TYPE_NOT_ALLOWED", await client.upload("report.pdf", program))
    client.must_be("FILE_TOO_LARGE", await client.upload("large.txt", b"words " * 400_000))
    client.must_be("KNOWLEDGE_INVALID_INPUT", await client.upload("empty.txt", b""))


@rule("R4 a file that cannot be read fails its version at once, and says why without telling too much")
async def fails_files(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    broken = b"%PDF-1.7\n" + secrets.token_bytes(400) + b"\n%%EOF\n"
    accepted = await submit(client, space_id, "broken.pdf", broken)
    ended = await end_of(client, accepted["operationId"])
    told = (ended["status"], ended["failureCode"], ended["retryable"], ended["retryCount"])
    expect(told == ("FAILED", "KNOWLEDGE_INVALID_INPUT", False, 0), f"it ended as {told}")
    detail = await client.ask("document_get", accepted["documentId"])
    candidate = detail["candidateVersion"]
    told = (detail["status"], detail["activeVersion"], candidate["status"], candidate["changeType"])
    expect(told == ("CREATE_FAILED", None, "FAILED", "INITIAL_UPLOAD"), f"the document is {told}")
    expect("/" not in candidate["error"]["message"], candidate["error"]["message"])
    listed = (await client.ask("document_list", space_id))["items"][0]
    expect(listed["activeVersion"] is None and listed["version"] == detail["lockVersion"] == 0, f"it is {listed}")
    await client.refused("DOCUMENT_NOT_READY", "document_download", accepted["documentId"], body={})


SCENARIOS: Final = (
    uploads,
    tells_when_to_look,
    cites,
    cites_steadily,
    cites_pages,
    bounds_contexts,
    seals_citations,
    links,
    lets_links_die,
    refuses_files,
    fails_files,
)
