"""Search and citations over HTTP."""

import pytest

from shared.contracts.envelope import Envelope
from shared.contracts.retrieval import CitationSource, RetrievalMatches
from shared.providers.scripted.script import EVERY_FILE, Call, Faults, Script
from tests.integration.api.harness import BOB, READER, Gateway, checked_error


async def test_evidence_is_found_and_read_back_with_its_context(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())

    answer = await gateway.post("/search", {"query": "hotel night", "limit": 8})

    assert answer.status_code == 200
    matches = Envelope[RetrievalMatches].model_validate_json(answer.content).data
    assert matches.query == "hotel night"
    assert matches.trace_id == answer.json()["meta"]["traceId"]
    hit = matches.hits[0]
    assert hit.document_id == document_id
    assert hit.content == "A night in a hotel costs 120 euros at most."
    source = await gateway.get(f"/citations/{hit.citation_id}", contextBefore=10, contextAfter=0)
    cited = Envelope[CitationSource].model_validate_json(source.content).data
    assert cited.citation_id == hit.citation_id
    assert cited.matched_content == hit.content
    assert (cited.requested_context_before, cited.requested_context_after) == (10, 0)
    assert cited.after_content == ""


async def test_nothing_found_is_an_answer_with_its_reason(gateway: Gateway) -> None:
    await gateway.make_space()

    answer = await gateway.post("/search", {"query": "anything"})

    data = answer.json()["data"]
    assert data["hits"] == []
    assert data["reason"] == "NO_AUTHORIZED_RELEVANT_EVIDENCE"


async def test_a_blank_question_finds_nothing_and_is_repeated_as_it_was(gateway: Gateway) -> None:
    await gateway.make_document(await gateway.make_space())

    data = (await gateway.post("/search", {"query": " \u3000 "})).json()["data"]

    assert data["hits"] == []
    assert data["query"] == " \u3000 "


async def test_nobody_finds_what_they_may_not_see(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    await gateway.make_document(space_id)

    assert (await gateway.post("/search", {"query": "hotel night"}, BOB)).json()["data"]["hits"] == []
    checked_error(
        await gateway.post("/search", {"query": "hotel", "knowledgeSpaceIds": [space_id]}, BOB),
        404,
        "SPACE_NOT_FOUND",
    )


async def test_a_citation_is_read_by_those_alone_who_may_see_it(gateway: Gateway) -> None:
    await gateway.make_document(await gateway.make_space())
    hits = (await gateway.post("/search", {"query": "hotel night"})).json()["data"]["hits"]
    citation_id = hits[0]["citationId"]

    checked_error(await gateway.get(f"/citations/{citation_id}", BOB), 404, "KNOWLEDGE_NOT_FOUND")
    checked_error(await gateway.get(f"/citations/{citation_id[:-1]}"), 404, "KNOWLEDGE_NOT_FOUND")
    checked_error(await gateway.get("/citations/nonsense"), 404, "KNOWLEDGE_NOT_FOUND")


async def test_hits_that_the_provider_was_not_asked_for_are_dropped_and_counted(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    wanted = await gateway.make_document(space_id, "Travel", b"A hotel night costs 120 euros.")
    await gateway.make_document(space_id, "Secret", b"The hotel night of the board costs more.")
    gateway.provider.tell("Secret.txt", Script(foreign_hits=True))

    answer = await gateway.post("/search", {"query": "hotel night", "documentIds": [wanted]})

    assert {hit["documentId"] for hit in answer.json()["data"]["hits"]} == {wanted}
    assert gateway.parts.metrics.registry.get_sample_value("knowgate_api_foreign_hits_total") == 1


async def test_a_provider_that_is_away_is_a_503_and_never_an_empty_answer(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    await gateway.make_document(space_id)
    gateway.provider.tell(EVERY_FILE, Script(faults={Call.SEARCH: Faults(unavailable=1)}))

    answer = await gateway.post("/search", {"query": "hotel night"})

    error = checked_error(answer, 503, "PROVIDER_UNAVAILABLE")
    assert error["retryable"] is True
    assert answer.headers["retry-after"] == "1"


async def test_a_provider_that_throttles_says_when_to_come_back(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    await gateway.make_document(space_id)
    gateway.provider.tell(
        EVERY_FILE, Script.model_validate({"faults": {"search": {"throttled": 1, "retry_after": 2.5}}})
    )

    answer = await gateway.post("/search", {"query": "hotel night"})

    checked_error(answer, 503, "PROVIDER_UNAVAILABLE")
    assert answer.headers["retry-after"] == "3"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": "x" * 4097},
        {"query": "x", "limit": 9},
        {"query": "x", "limit": "8"},
        {"query": "x", "knowledgeSpaceIds": []},
        {"query": "x", "documentIds": None},
    ],
)
async def test_a_search_that_cannot_be_is_a_422(gateway: Gateway, body: dict[str, object]) -> None:
    checked_error(await gateway.post("/search", body), 422, "KNOWLEDGE_INVALID_INPUT")


async def test_an_unknown_filter_has_a_code_of_its_own(gateway: Gateway) -> None:
    answer = await gateway.post("/search", {"query": "x", "metadataFilter": {"author": ["me"]}})

    checked_error(answer, 400, "KNOWLEDGE_METADATA_FILTER_FIELD_NOT_ALLOWED")


@pytest.mark.parametrize("params", [{"contextBefore": 5001}, {"contextAfter": -1}])
async def test_a_context_out_of_range_has_a_code_of_its_own(gateway: Gateway, params: dict[str, object]) -> None:
    checked_error(await gateway.get("/citations/c", **params), 422, "INVALID_CONTEXT_RANGE")


async def test_a_reader_may_search(gateway: Gateway) -> None:
    assert (await gateway.post("/search", {"query": "x"}, READER)).status_code == 200
