"""Our catalogue of routes, headers and limits is the contract's."""

from types import UnionType
from typing import Any

import pytest

from shared.contracts import metadata, operations, retrieval
from shared.contracts.body import Body
from shared.contracts.route import CALLER_HEADERS, IDEMPOTENCY_KEY, Approval, Concurrency, Toolset
from shared.contracts.routes import ROUTES, ROUTES_BY_TOOL
from tests.contract.models import ANSWERS, REQUESTS, VALUES
from tests.contract.schemas import CONTRACT

NAMES = {model: name for name, model in (*REQUESTS.items(), *ANSWERS.items())}


def name_of(model: type[Body] | UnionType | None) -> str | None:
    if isinstance(model, UnionType):
        assert model == VALUES["RetrievalResult"]
        return "RetrievalResult"
    return None if model is None else NAMES[model]


def test_the_routes_are_the_contracts_in_its_order() -> None:
    assert [route.tool for route in ROUTES] == [route["tool"] for route in CONTRACT["routes"]]
    assert len(ROUTES_BY_TOOL) == 20


@pytest.mark.parametrize("expected", CONTRACT["routes"], ids=lambda route: route["tool"])
def test_a_route_is_the_contracts_in_every_field(expected: dict[str, Any]) -> None:
    route = ROUTES_BY_TOOL[expected["tool"]]

    assert {
        "tool": route.tool,
        "method": route.method,
        "path": route.path,
        "successStatus": route.success_status,
        "request": name_of(route.request),
        "query": name_of(route.query),
        "data": name_of(route.data),
        "meta": "ListSuccessMeta" if route.is_list else "SuccessMeta",
        "actions": [action.value for action in route.actions],
        "approval": route.approval.value,
        "concurrency": route.concurrency.value,
        "toolset": route.toolset.value,
        "idempotencyKey": route.idempotency_key,
        "clientMayRetry": route.client_may_retry,
    } == expected


def test_no_two_routes_share_method_and_path() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_the_closed_sets_hold_nothing_that_no_route_uses() -> None:
    assert {route.approval for route in ROUTES} == set(Approval)
    assert {route.concurrency for route in ROUTES} == set(Concurrency)
    assert {route.toolset for route in ROUTES} == set(Toolset)


def test_the_headers_have_the_contracts_bounds() -> None:
    bounds = {header.name: (header.min_length, header.max_length) for header in (*CALLER_HEADERS, IDEMPOTENCY_KEY)}

    assert bounds == {
        name: (header["minLength"], header["maxLength"])
        for name, header in CONTRACT["headers"].items()
        if name != "Authorization"
    }


def test_the_limits_are_the_contracts() -> None:
    limits = CONTRACT["limits"]

    assert limits["search"] == {
        "hits": retrieval.MAX_HITS,
        "hitsPerDocument": retrieval.MAX_HITS_PER_DOCUMENT,
        "hitCodePoints": retrieval.MAX_HIT_LENGTH,
        "totalCodePoints": retrieval.MAX_TOTAL_LENGTH,
    }
    assert limits["citation"] == {
        "unit": "unicode code point",
        "defaultBefore": retrieval.DEFAULT_CONTEXT_LENGTH,
        "defaultAfter": retrieval.DEFAULT_CONTEXT_LENGTH,
        "before": retrieval.MAX_CONTEXT_LENGTH,
        "match": retrieval.MAX_MATCH_LENGTH,
        "after": retrieval.MAX_CONTEXT_LENGTH,
        "total": retrieval.MAX_CITATION_LENGTH,
    }
    assert limits["download"]["expiresInSeconds"] == retrieval.DOWNLOAD_SECONDS
    assert limits["metadataBytes"] == metadata.MAX_METADATA_BYTES
    assert limits["automaticRetries"] == operations.MAX_AUTOMATIC_RETRIES
    assert limits["manualRetriesPerRootOperation"] == operations.MAX_MANUAL_RETRIES
