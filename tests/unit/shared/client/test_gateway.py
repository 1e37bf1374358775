"""Every route of the contract has its method, which asks for exactly that route and reads its answer."""

import re
from collections.abc import Awaitable, Callable

import pytest

from shared.client.errors import Refused
from shared.client.gateway import Gateway
from shared.contracts.documents import (
    DocumentDeleteRequest,
    DocumentLockRequest,
    DocumentReplaceRequest,
    DocumentUpdateRequest,
    DocumentUploadRequest,
)
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.retrieval import RetrievalEmpty, RetrievalRequest
from shared.contracts.route import Route
from shared.contracts.routes import ROUTES
from shared.contracts.spaces import SpaceCreateRequest, SpaceDeleteRequest, SpaceUpdateRequest
from tests.unit.shared.client.answering import SPACE, ScriptedGateway, refusal, success

SPC, DOC, OP = SpaceId("x"), DocumentId("x"), OperationId("x")
LOCK = DocumentLockRequest(expected_version=0)
REASON = OperationReasonRequest(reason="enough")
FILE = FileResourceId("frs_1")

CALLS: dict[str, Callable[[Gateway], Awaitable[object]]] = {
    "knowledge_space_list": lambda gateway: gateway.list_spaces(),
    "knowledge_space_get": lambda gateway: gateway.get_space(SPC),
    "knowledge_space_create": lambda gateway: gateway.create_space(
        SpaceCreateRequest(
            code="c", name="n", profile_code="enterprise-long-document", default_security_domain_code="general"
        )
    ),
    "knowledge_space_update": lambda gateway: gateway.update_space(
        SPC, SpaceUpdateRequest(name="n", expected_version=1)
    ),
    "knowledge_space_delete": lambda gateway: gateway.delete_space(
        SPC, SpaceDeleteRequest(expected_version=1, reason="old")
    ),
    "knowledge_document_list": lambda gateway: gateway.list_documents(SPC),
    "knowledge_document_upload": lambda gateway: gateway.upload_document(
        SPC, DocumentUploadRequest(file_resource_id=FILE, document_name="n")
    ),
    "knowledge_document_get": lambda gateway: gateway.get_document(DOC),
    "knowledge_document_update": lambda gateway: gateway.update_document(
        DOC, DocumentUpdateRequest(name="n", expected_version=0)
    ),
    "knowledge_document_replace": lambda gateway: gateway.replace_document(
        DOC, DocumentReplaceRequest(file_resource_id=FILE, expected_version=0)
    ),
    "knowledge_document_enable": lambda gateway: gateway.enable_document(DOC, LOCK),
    "knowledge_document_disable": lambda gateway: gateway.disable_document(DOC, LOCK),
    "knowledge_document_reindex": lambda gateway: gateway.reindex_document(DOC, LOCK),
    "knowledge_document_delete": lambda gateway: gateway.delete_document(
        DOC, DocumentDeleteRequest(expected_version=0, reason="old")
    ),
    "knowledge_document_download": lambda gateway: gateway.create_download_link(DOC),
    "knowledge_search": lambda gateway: gateway.search(RetrievalRequest(query="q")),
    "knowledge_source_read": lambda gateway: gateway.read_citation("x"),
    "knowledge_operation_get": lambda gateway: gateway.get_operation(OP),
    "knowledge_operation_cancel": lambda gateway: gateway.cancel_operation(OP, REASON),
    "knowledge_operation_retry": lambda gateway: gateway.retry_operation(OP, REASON),
}


def test_there_is_a_call_for_every_route() -> None:
    assert set(CALLS) == {route.tool for route in ROUTES}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.tool)
async def test_a_call_asks_for_its_route(route: Route) -> None:
    scripted = ScriptedGateway([refusal(403, "KNOWLEDGE_FORBIDDEN")])

    with pytest.raises(Refused):
        await CALLS[route.tool](Gateway(scripted.exchange()))

    (request,) = scripted.asked
    assert request.method == route.method
    assert request.url.raw_path.partition(b"?")[0].decode() == re.sub(r"{\w+}", "x", route.path)
    assert ("Idempotency-Key" in request.headers) == route.idempotency_key
    assert bool(scripted.bodies[0]) == (route.request is not None)


async def test_a_space_is_found_by_its_code_on_a_later_page() -> None:
    def pages(number: int) -> dict[str, object]:
        return {"page": number, "pageSize": 20, "totalItems": 21, "totalPages": 2, "hasNext": number == 1}

    other = SPACE | {"spaceId": "spc_0", "code": "other"}
    scripted = ScriptedGateway(
        [
            success({"items": [other] * 20}, pagination=pages(1)),
            success({"items": [SPACE]}, pagination=pages(2)),
        ]
    )

    space = await Gateway(scripted.exchange()).find_space("handbook")

    assert space is not None
    assert space.space_id == "spc_1"


async def test_a_search_that_finds_nothing_is_told_from_one_that_finds_something() -> None:
    empty = {"query": "q", "hits": [], "reason": "NO_AUTHORIZED_RELEVANT_EVIDENCE"}

    found = await Gateway(ScriptedGateway([success(empty)]).exchange()).search(RetrievalRequest(query="q"))

    assert isinstance(found, RetrievalEmpty)


async def test_a_list_tells_its_page() -> None:
    pagination = {"page": 2, "pageSize": 1, "totalItems": 3, "totalPages": 3, "hasNext": True}
    scripted = ScriptedGateway([success({"items": [SPACE]}, pagination=pagination)])

    page = await Gateway(scripted.exchange()).list_spaces(2, 1)

    assert scripted.asked[0].url.query == b"page=2&pageSize=1"
    assert [space.code for space in page.items] == ["handbook"]
    assert page.pagination.has_next
