"""A document goes from upload to a cited answer, is replaced, and downloaded."""

from services.cli.stack import Stack
from shared.client.waiting import has_succeeded
from shared.contracts.enums import DocumentStatus, VersionStatus
from shared.contracts.retrieval import RetrievalMatches
from tests.e2e.conversation import conversation

HANDBOOK = """\
# Reading room

## Opening hours

The reading room opens at nine and closes at half past six; on Thursdays it stays open until ten.

## Lending

Maps and drawings are lent for four days, everything else for twenty-one days.
"""

LATER = HANDBOOK.replace("four days", "six days")


async def test_a_document_becomes_searchable_and_its_citation_leads_back_to_it(stack: Stack) -> None:
    async with conversation(stack, "reading-room") as talk:
        accepted = await talk.submit("reading-room.md", HANDBOOK.encode())
        assert has_succeeded(await talk.end_of(accepted.operation_id))

        document = await talk.client.gateway.get_document(accepted.document_id)
        assert document.status is DocumentStatus.ACTIVE
        assert document.searchable
        assert document.candidate_version is None

        found = await talk.search("For how long are maps lent?", accepted.document_id)
        assert isinstance(found, RetrievalMatches)
        hit = next(hit for hit in found.hits if "four days" in hit.content)
        assert hit.document_id == accepted.document_id
        assert hit.chapter_path[-1] == "Lending"

        source = await talk.client.gateway.read_citation(hit.citation_id, before=500, after=500)
        assert source.version_id == document.active_version.version_id if document.active_version else False
        assert "Maps and drawings are lent for four days" in source.matched_content


async def test_a_replacement_takes_the_place_of_what_was_there(stack: Stack) -> None:
    async with conversation(stack, "replacing") as talk:
        first = await talk.submit("reading-room.md", HANDBOOK.encode())
        assert has_succeeded(await talk.end_of(first.operation_id))
        found = await talk.search("maps lent", first.document_id)
        assert isinstance(found, RetrievalMatches)

        second = await talk.replace(first.document_id, "reading-room.md", LATER.encode())
        assert has_succeeded(await talk.end_of(second.operation_id))

        document = await talk.client.gateway.get_document(first.document_id)
        assert document.active_version is not None
        assert (document.active_version.version_no, document.active_version.status) == (2, VersionStatus.READY)
        after = await talk.search("maps lent", first.document_id)
        assert isinstance(after, RetrievalMatches)
        text = " ".join(hit.content for hit in after.hits)
        assert "six days" in text
        assert "four days" not in text


async def test_a_download_link_brings_the_very_bytes(stack: Stack) -> None:
    async with conversation(stack, "downloads") as talk:
        accepted = await talk.submit("手册 2026.md", HANDBOOK.encode())
        assert has_succeeded(await talk.end_of(accepted.operation_id))

        link = await talk.client.gateway.create_download_link(accepted.document_id)

        pieces = [piece async for piece in talk.client.files.download(link)]
        assert b"".join(pieces) == HANDBOOK.encode()
        assert (link.file_name, link.file_size) == ("手册 2026.md", len(HANDBOOK.encode()))
