"""Answers as they must be, one for each kind that rules look at, and what makes other ones of them."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from tests.conformance.answers import Answer, Call, parse
from tests.conformance.contract import ROUTES
from tests.conformance.rules.stages import look_at

Change = Callable[[Any], object]
"""Changes a whole body in place."""

TIME: Final = "2031-05-06T07:08:09.123Z"
LATER: Final = "2031-05-06T07:08:19.123Z"
END: Final = "2031-05-06T07:09:09.123Z"
METADATA: Final = {"category": "law", "tags": ["b", "a"], "versionLabel": None, "productCode": None}


def meta(pagination: Any = None, error: Any = None) -> dict[str, Any]:
    """`meta` of a success, or of an error."""
    return {
        "success": error is None,
        "requestId": "request-1",
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "timestamp": TIME,
        "apiVersion": "v1",
        "pagination": pagination,
        "error": error,
    }


def version(**changed: Any) -> dict[str, Any]:
    """A version in full, READY and active."""
    return {
        "versionId": "ver_1",
        "versionNo": 1,
        "changeType": "INITIAL_UPLOAD",
        "status": "READY",
        "fileName": "ferry.md",
        "mimeType": "text/markdown",
        "fileSize": 90,
        "operationId": "op_1",
        "operationStatus": "SUCCEEDED",
        "progressPercent": 100,
        "progressSource": "TERMINAL_STATE",
        "progressUpdatedAt": TIME,
        "retryable": False,
        "error": None,
        "createdAt": TIME,
        "processingStartedAt": TIME,
        "readyAt": TIME,
        "activatedAt": LATER,
        "failedAt": None,
        "cancelledAt": None,
    } | changed


def candidate(**changed: Any) -> dict[str, Any]:
    """A version in full, on its way, of which nobody knows how far it is."""
    nothing = dict.fromkeys(("readyAt", "activatedAt", "progressPercent", "progressUpdatedAt"))
    on_its_way = {"status": "INGESTING", "operationStatus": "RUNNING", "progressSource": "UNAVAILABLE"}
    return version(versionId="ver_2", versionNo=2, changeType="REPLACE") | nothing | on_its_way | changed


def failed(**changed: Any) -> dict[str, Any]:
    """A candidate that has FAILED."""
    error = {"code": "FILE_CORRUPT", "message": "The file is damaged.", "retryable": False}
    return candidate(status="FAILED", operationStatus="FAILED", failedAt=LATER, error=error) | changed


def detail(**changed: Any) -> dict[str, Any]:
    """A document in full."""
    return {
        "documentId": "doc_1",
        "spaceId": "spc_1",
        "name": "Ferry",
        "status": "ACTIVE",
        "searchable": True,
        "metadata": METADATA,
        "lockVersion": 1,
        "activeVersion": version(),
        "candidateVersion": None,
        "createdAt": TIME,
        "updatedAt": LATER,
    } | changed


def hit(number: int, **changed: Any) -> dict[str, Any]:
    """One hit; a higher number has a lower score and another document."""
    return {
        "citationId": f"cit_{number}",
        "documentId": f"doc_{number}",
        "documentName": "Ferry",
        "chapterPath": ["Ferry", "Departures"],
        "content": "It leaves at seven.",
        "score": 1 - number / 100,
        "metadata": METADATA,
    } | changed


def space(**changed: Any) -> dict[str, Any]:
    """A space as it is listed."""
    return {"spaceId": "spc_1", "code": "harbour", "name": "Harbour", "status": "ACTIVE", "version": 1} | changed


def document(**changed: Any) -> dict[str, Any]:
    """A document as it is listed."""
    return {
        "documentId": "doc_1",
        "knowledgeSpaceId": "spc_1",
        "name": "Ferry",
        "status": "CREATING",
        "version": 0,
        "metadata": METADATA,
        "activeVersion": None,
    } | changed


CITATION: Final = {
    "citationId": "cit_1",
    "documentId": "doc_1",
    "versionId": "ver_1",
    "documentName": "Ferry",
    "beforeContent": "🕘 before",
    "matchedContent": "It leaves at seven.",
    "afterContent": "after",
    "requestedContextBefore": 1000,
    "requestedContextAfter": 1000,
    "actualContextBefore": 8,
    "actualContextAfter": 5,
    "matchedContentTruncated": False,
    "locationPrecision": "EXACT_OFFSET",
    "pageStart": 2,
    "pageEnd": 3,
}
LINK: Final = {
    "documentId": "doc_1",
    "versionId": "ver_1",
    "fileName": "ferry.md",
    "mimeType": "text/markdown",
    "fileSize": 90,
    "downloadUrl": "http://127.0.0.1:8080/downloads/sealed",
    "expiresAt": END,
    "expiresInSeconds": 60,
}
ERROR: Final = {
    "code": "KNOWLEDGE_INVALID_INPUT",
    "message": "The request is not valid.",
    "retryable": False,
    "fieldErrors": [{"field": "$.name", "reason": "TOO_LONG", "message": "Must be at most 128 characters"}],
}
PAGE: Final = {"page": 1, "pageSize": 2, "totalItems": 5, "totalPages": 3, "hasNext": True}
OPERATION: Final = {
    "operationId": "op_1",
    "status": "RUNNING",
    "operationType": "DOCUMENT_UPLOAD",
    "createdAt": TIME,
    "nextRetryAt": None,
}

Sample = tuple[Call, int, Any]
"""A call, its status and the body of its answer."""


def of(tool: str, data: Any, *, pagination: Any = None, **call: Any) -> Sample:
    """A success of a tool."""
    route = ROUTES[f"knowledge_{tool}"]
    return Call(route=route, **call), route.status, {"data": data, "meta": meta(pagination)}


SPACE_ID: Final = {"spaceId": "spc_1"}
DOCUMENT_ID: Final = {"documentId": "doc_1"}
OPERATION_ID: Final = {"operationId": "op_1"}

SAMPLES: Final[dict[str, Sample]] = {
    "spaces": of(
        "space_list",
        {"items": [space(), space(spaceId="spc_2")]},
        pagination=PAGE,
        query={"page": 1, "pageSize": 2},
        most_items=20,
    ),
    "documents": of(
        "document_list",
        {"items": [document(), document(documentId="doc_2")]},
        pagination=PAGE,
        ids=SPACE_ID,
        query={"page": 1, "pageSize": 2},
    ),
    "space": of("space_get", space(), ids=SPACE_ID),
    "created": of("space_create", space(), body={"code": "harbour", "name": "Harbour"}),
    "updated": of("space_update", {"spaceId": "spc_1", "name": "H", "status": "ACTIVE", "version": 2}, ids=SPACE_ID),
    "detail": of("document_get", detail(), ids=DOCUMENT_ID),
    "replacing": of("document_get", detail(candidateVersion=candidate()), ids=DOCUMENT_ID),
    "failed": of("document_get", detail(candidateVersion=failed()), ids=DOCUMENT_ID),
    "changed": of("document_update", document(version=1), ids=DOCUMENT_ID),
    "space leaving": of("space_delete", {"spaceId": "spc_1", "operationId": "op_2", "status": "PENDING"}, ids=SPACE_ID),
    "accepted": of(
        "document_replace", {"documentId": "doc_1", "operationId": "op_2", "status": "PENDING"}, ids=DOCUMENT_ID
    ),
    "hits": of(
        "search",
        {"query": "when?", "hits": [hit(number) for number in range(6)], "traceId": "trace"},
        body={"query": "when?", "limit": 8},
    ),
    "narrowed": of(
        "search",
        {"query": "when?", "hits": [hit(1), hit(2)], "traceId": "trace"},
        body={"query": "when?", "limit": 2, "documentIds": ["doc_1", "doc_2"]},
    ),
    "no hits": of("search", {"hits": [], "reason": "NO_AUTHORIZED_RELEVANT_EVIDENCE"}, body={"query": "when?"}),
    "citation": of("source_read", CITATION, ids={"citationId": "cit_1"}),
    "link": of("document_download", LINK, ids=DOCUMENT_ID, body={}),
    "operation": of("operation_get", OPERATION, ids=OPERATION_ID),
    "retry": of(
        "operation_retry",
        {"operationId": "op_2", "parentOperationId": "op_1", "status": "PENDING"},
        ids=OPERATION_ID,
    ),
    "error": (Call(route=ROUTES["knowledge_space_create"]), 422, {"data": None, "meta": meta(error=ERROR)}),
    "busy": (
        Call(route=ROUTES["knowledge_search"]),
        429,
        {"data": None, "meta": meta(error=ERROR | {"code": "RATE_LIMITED", "retryable": True})},
    ),
    "refused": (
        Call(route=ROUTES["knowledge_search"]),
        401,
        {"data": None, "meta": meta(error=ERROR | {"code": "KNOWLEDGE_UNAUTHENTICATED", "fieldErrors": []})},
    ),
}

HEADERS: Final = {"content-type": "application/json", "retry-after": "1"}


def answer(
    sample: str,
    change: Change | None = None,
    *,
    status: int | None = None,
    content: bytes | None = None,
    **headers: str,
) -> Answer:
    """The answer of a sample, changed in its body, its status, its bytes or its headers."""
    call, usual, body = SAMPLES[sample]
    body = deepcopy(body)
    if change is not None:
        change(body)
    written = json.dumps(body, ensure_ascii=False).encode() if content is None else content
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(call=call, status=status or usual, headers=HEADERS | named, content=written, parsed=parse(written))


def broken(looked_at: Answer) -> set[str]:
    """The first words of the rules that an answer breaks."""
    return {finding.rule for finding in look_at(looked_at) if not finding.holds}
