"""Searches, citations and links keep the limits that the client checks."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from shared.contracts.enums import LocationPrecision
from shared.contracts.ids import DocumentId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.contracts.reading import read_body
from shared.contracts.retrieval import (
    CitationContextQuery,
    CitationSource,
    DownloadLink,
    RetrievalEmpty,
    RetrievalHit,
    RetrievalMatches,
    RetrievalRequest,
)

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
NO_METADATA = DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None)


def hit(document: str = "d", content: str = "x", score: float = 0.5) -> RetrievalHit:
    return RetrievalHit(
        citation_id="c",
        document_id=DocumentId(document),
        document_name="A",
        chapter_path=(),
        content=content,
        score=score,
        metadata=NO_METADATA,
    )


def matches(*hits: RetrievalHit) -> RetrievalMatches:
    return RetrievalMatches(query="q", hits=hits, trace_id="t")


def citation(**changes: Any) -> CitationSource:
    fields: dict[str, Any] = {
        "citation_id": "c",
        "document_id": DocumentId("d"),
        "version_id": VersionId("v"),
        "document_name": "A",
        "before_content": "ab",
        "matched_content": "cd",
        "after_content": "😀",
        "requested_context_before": 1000,
        "requested_context_after": 1,
        "actual_context_before": 2,
        "actual_context_after": 1,
        "matched_content_truncated": False,
        "location_precision": LocationPrecision.EXACT_OFFSET,
    }
    return CitationSource(**(fields | changes))


def link(url: str) -> DownloadLink:
    return DownloadLink(
        document_id=DocumentId("d"),
        version_id=VersionId("v"),
        file_name="a.txt",
        mime_type="text/plain",
        file_size=0,
        download_url=url,
        expires_at=NOON,
        expires_in_seconds=60,
    )


def test_a_search_asks_for_eight_hits_unless_it_says_otherwise() -> None:
    request = read_body(RetrievalRequest, b'{"query":" q "}')

    assert (request.query, request.limit, request.document_ids, request.metadata_filter) == (" q ", 8, None, None)


def test_no_document_ids_differ_from_none() -> None:
    assert read_body(RetrievalRequest, b'{"query":"q","documentIds":[]}').document_ids == ()


def test_a_document_has_at_most_four_hits() -> None:
    assert len(matches(*[hit("a")] * 4, *[hit("b")] * 4).hits) == 8
    with pytest.raises(ValidationError, match="4 hits"):
        matches(*[hit("a")] * 5)


def test_hits_have_at_most_sixteen_thousand_code_points_together() -> None:
    full, half = "😀" * 2000, "😀" * 2001
    documents = "abcdefgh"

    assert len(matches(*(hit(document, full) for document in documents)).hits) == 8
    with pytest.raises(ValidationError, match="16000"):
        matches(hit("a", half), *(hit(document, full) for document in documents[1:]))


@pytest.mark.parametrize("count", [0, 9])
def test_a_match_has_one_to_eight_hits(count: int) -> None:
    with pytest.raises(ValidationError):
        matches(*(hit(str(number)) for number in range(count)))


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_score_lies_between_zero_and_one(score: float) -> None:
    with pytest.raises(ValidationError):
        hit(score=score)


def test_a_hit_has_at_most_2500_code_points() -> None:
    assert len(hit(content="😀" * 2500).content) == 2500
    with pytest.raises(ValidationError):
        hit(content="😀" * 2501)


def test_an_empty_result_says_why() -> None:
    assert RetrievalEmpty.of("q", "t").to_json() == (
        b'{"query":"q","hits":[],"traceId":"t","reason":"NO_AUTHORIZED_RELEVANT_EVIDENCE"}'
    )


def test_a_citation_asks_for_a_thousand_code_points_on_each_side() -> None:
    query = CitationContextQuery()

    assert (query.context_before, query.context_after) == (1000, 1000)


def test_a_citation_counts_code_points() -> None:
    assert citation().after_content == "😀"


@pytest.mark.parametrize(
    "changes",
    [
        {"actual_context_before": 1},
        {"actual_context_after": 2},
        {"requested_context_before": 1},
        {"requested_context_after": 0},
        {"page_start": 2, "page_end": 1},
        {"before_content": "x" * 5001, "actual_context_before": 5000, "requested_context_before": 5000},
        {"matched_content": "x" * 2501},
        {"page_start": 0},
    ],
)
def test_a_citation_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        citation(**changes)


@pytest.mark.parametrize("changes", [{"page_start": 2, "page_end": 2}, {"page_end": 1}, {"page_start": 9}])
def test_a_citation_may_know_both_pages_or_one(changes: dict[str, int]) -> None:
    assert citation(**changes).matched_content == "cd"


def test_a_full_citation_is_as_long_as_the_contract_allows() -> None:
    full = citation(
        before_content="x" * 5000,
        matched_content="x" * 2500,
        after_content="x" * 5000,
        requested_context_before=5000,
        requested_context_after=5000,
        actual_context_before=5000,
        actual_context_after=5000,
    )

    assert len(full.before_content + full.matched_content + full.after_content) == 12_500


@pytest.mark.parametrize(
    "url",
    [
        "https://knowledge.example/downloads/t",
        "http://localhost:8080/downloads/t",
        "http://127.0.0.1/downloads/t",
        "http://[::1]:9/downloads/t",
    ],
)
def test_a_link_is_safe(url: str) -> None:
    assert link(url).download_url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://knowledge.example/d",
        "http://127.0.0.2/d",
        "http://localhost.example/d",
        "http://localhost@knowledge.example/d",
        "ftp://knowledge.example/d",
        "//knowledge.example/d",
        "https:///d",
        "/downloads/t",
        "https://[broken",
        f"https://knowledge.example/{'x' * 4096}",
    ],
)
def test_any_other_link_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        link(url)
