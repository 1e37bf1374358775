"""Whatever the status, an answer that keeps the rules between fields is accepted and valid by the contract."""

import json
from typing import Any

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from shared.contracts.body import Body
from shared.contracts.documents import DocumentDetail, VersionDetail
from shared.contracts.paging import Pagination
from shared.contracts.retrieval import CitationSource, RetrievalMatches
from tests.contract.generation import json_values
from tests.contract.schemas import contract_errors

quietly = settings(deadline=None, max_examples=200, derandomize=True, phases=(Phase.generate, Phase.shrink))


@st.composite
def consistent_versions(draw: st.DrawFn) -> dict[str, Any]:
    version = dict(draw(json_values("VersionDetail")))
    error = draw(json_values("VersionError")) if version["status"] == "FAILED" else None
    version["error"] = error
    version["retryable"] = error is not None and error["retryable"]
    if version["status"] in ("READY", "RETIRED"):
        version["progressPercent"], version["progressSource"] = 100, "TERMINAL_STATE"
    elif version["progressPercent"] is None:
        version["progressSource"] = "UNAVAILABLE"
    else:
        version["progressSource"] = "PROVIDER"
    return version


@st.composite
def consistent_details(draw: st.DrawFn) -> dict[str, Any]:
    detail = dict(draw(json_values("DocumentDetail")))
    active = draw(st.none() | consistent_versions())
    candidate = draw(st.none() | consistent_versions())
    if candidate is not None:
        assume(candidate["status"] not in ("RETIRED", "DELETED"))
        candidate["versionId"] = "the-candidate"
    is_served = active is not None and active["status"] == "READY"
    detail["activeVersion"], detail["candidateVersion"] = active, candidate
    detail["searchable"] = detail["status"] == "ACTIVE" and is_served
    return detail


@st.composite
def consistent_citations(draw: st.DrawFn) -> dict[str, Any]:
    citation = dict(draw(json_values("CitationSource")))
    for side in ("Before", "After"):
        actual = len(citation[f"{side.lower()}Content"])
        citation[f"actualContext{side}"] = actual
        citation[f"requestedContext{side}"] = draw(st.integers(actual, 5000))
    if "pageStart" in citation and "pageEnd" in citation:
        citation["pageEnd"] += citation["pageStart"]
    return citation


def assert_valid(model: type[Body], value: object) -> None:
    answer = model.model_validate_json(json.dumps(value), by_name=False)

    assert contract_errors(model.__name__, json.loads(answer.to_json())) == []


@quietly
@given(value=consistent_versions())
def test_every_consistent_version_is_valid(value: dict[str, Any]) -> None:
    assert_valid(VersionDetail, value)


@quietly
@given(value=consistent_details())
def test_every_consistent_document_is_valid(value: dict[str, Any]) -> None:
    assert_valid(DocumentDetail, value)


@quietly
@given(value=consistent_citations())
def test_every_consistent_citation_is_valid(value: dict[str, Any]) -> None:
    assert_valid(CitationSource, value)


@quietly
@given(value=json_values("RetrievalMatches"), numbers=st.permutations([1, 1, 1, 1, 2, 2, 2, 2]))
def test_at_most_eight_hits_of_two_documents_are_valid(value: dict[str, Any], numbers: list[int]) -> None:
    documents = [f"document-{number}" for number in numbers]
    hits = [{**value["hits"][0], "documentId": document, "content": "😀" * 2000} for document in documents]

    assert_valid(RetrievalMatches, value | {"hits": hits})


@quietly
@given(page=st.integers(1, 300), page_size=st.integers(1, 100), total_items=st.integers(0, 1000))
def test_every_computed_pagination_is_valid(page: int, page_size: int, total_items: int) -> None:
    pagination = Pagination.of(page, page_size, total_items)

    assert contract_errors("Pagination", json.loads(pagination.to_json())) == []
    assert pagination.total_pages == len(range(0, total_items, page_size))
    assert pagination.most_items == len(range(total_items)[pagination_slice(page, page_size)])


def pagination_slice(page: int, page_size: int) -> slice:
    return slice((page - 1) * page_size, page * page_size)
