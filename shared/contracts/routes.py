"""The catalogue of the contract's twenty routes."""

from types import MappingProxyType, UnionType
from typing import Final

from shared.contracts.body import Body
from shared.contracts.documents import (
    Document,
    DocumentDeleteRequest,
    DocumentDetail,
    DocumentList,
    DocumentLockRequest,
    DocumentOperationAccepted,
    DocumentReplaceRequest,
    DocumentUpdateRequest,
    DocumentUploadRequest,
    EmptyRequest,
)
from shared.contracts.enums import Action
from shared.contracts.operations import ManualRetryAccepted, Operation, OperationQuery, OperationReasonRequest
from shared.contracts.paging import DocumentListQuery, ListQuery, SpaceListQuery
from shared.contracts.retrieval import (
    CitationContextQuery,
    CitationSource,
    DownloadLink,
    RetrievalRequest,
    RetrievalResult,
)
from shared.contracts.route import Approval, Concurrency, Route, Toolset
from shared.contracts.spaces import (
    Space,
    SpaceCreated,
    SpaceCreateRequest,
    SpaceDeleteRequest,
    SpaceList,
    SpaceOperationAccepted,
    SpaceUpdated,
    SpaceUpdateRequest,
)

KNOWLEDGE_PREFIX: Final = "/internal/v1/knowledge"


def _read(
    tool: str,
    method: str,
    path: str,
    data: type[Body] | UnionType,
    action: Action,
    *,
    request: type[Body] | None = None,
    query: type[Body] | None = None,
    own_query: type[Body] | None = None,
) -> Route:
    return Route(
        tool=tool,
        method=method,
        path=KNOWLEDGE_PREFIX + path,
        success_status=200,
        request=request,
        query=query,
        own_query=own_query,
        data=data,
        actions=(action,),
        approval=Approval.ALLOW,
        concurrency=Concurrency.PARALLEL,
        toolset=Toolset.READ,
        client_may_retry=True,
    )


def _write(
    tool: str,
    method: str,
    path: str,
    success_status: int,
    request: type[Body],
    data: type[Body],
    *actions: Action,
    toolset: Toolset = Toolset.WRITE,
    approval: Approval = Approval.ASK,
) -> Route:
    return Route(
        tool=tool,
        method=method,
        path=KNOWLEDGE_PREFIX + path,
        success_status=success_status,
        request=request,
        data=data,
        actions=actions,
        approval=approval,
        concurrency=Concurrency.EXCLUSIVE,
        toolset=toolset,
        idempotency_key=True,
    )


_ONE_SPACE: Final = "/spaces/{spaceId}"
_ONE_DOCUMENT: Final = "/documents/{documentId}"
_ONE_OPERATION: Final = "/operations/{operationId}"
_ADMIN: Final = Toolset.ADMIN
_ALLOW: Final = Approval.ALLOW

SPACE_LIST: Final = _read(
    "knowledge_space_list",
    "GET",
    "/spaces",
    SpaceList,
    Action.SPACE_VIEW,
    query=ListQuery,
    own_query=SpaceListQuery,
)
SPACE_GET: Final = _read("knowledge_space_get", "GET", _ONE_SPACE, Space, Action.SPACE_VIEW)
DOCUMENT_LIST: Final = _read(
    "knowledge_document_list",
    "GET",
    f"{_ONE_SPACE}/documents",
    DocumentList,
    Action.DOCUMENT_VIEW,
    query=ListQuery,
    own_query=DocumentListQuery,
)
DOCUMENT_GET: Final = _read("knowledge_document_get", "GET", _ONE_DOCUMENT, DocumentDetail, Action.DOCUMENT_VIEW)
SEARCH: Final = _read(
    "knowledge_search",
    "POST",
    "/search",
    RetrievalResult,
    Action.KNOWLEDGE_SEARCH,
    request=RetrievalRequest,
)
SOURCE_READ: Final = _read(
    "knowledge_source_read",
    "GET",
    "/citations/{citationId}",
    CitationSource,
    Action.DOCUMENT_VIEW,
    query=CitationContextQuery,
)
OPERATION_GET: Final = _read(
    "knowledge_operation_get",
    "GET",
    _ONE_OPERATION,
    Operation,
    Action.RESOURCE_VIEW,
    own_query=OperationQuery,
)
DOCUMENT_DOWNLOAD: Final = Route(
    tool="knowledge_document_download",
    method="POST",
    path=f"{KNOWLEDGE_PREFIX}{_ONE_DOCUMENT}:create-download-link",
    success_status=200,
    request=EmptyRequest,
    data=DownloadLink,
    actions=(Action.DOCUMENT_DOWNLOAD,),
    approval=Approval.ASK,
    concurrency=Concurrency.PARALLEL,
    toolset=Toolset.READ,
)
DOCUMENT_UPLOAD: Final = _write(
    "knowledge_document_upload",
    "POST",
    f"{_ONE_SPACE}/documents",
    202,
    DocumentUploadRequest,
    DocumentOperationAccepted,
    Action.DOCUMENT_UPLOAD,
    approval=_ALLOW,
)
DOCUMENT_UPDATE: Final = _write(
    "knowledge_document_update",
    "PATCH",
    _ONE_DOCUMENT,
    200,
    DocumentUpdateRequest,
    Document,
    Action.DOCUMENT_UPDATE,
    approval=_ALLOW,
)
DOCUMENT_REPLACE: Final = _write(
    "knowledge_document_replace",
    "POST",
    f"{_ONE_DOCUMENT}:replace",
    202,
    DocumentReplaceRequest,
    DocumentOperationAccepted,
    Action.DOCUMENT_UPDATE,
)
DOCUMENT_ENABLE: Final = _write(
    "knowledge_document_enable",
    "POST",
    f"{_ONE_DOCUMENT}:enable",
    200,
    DocumentLockRequest,
    Document,
    Action.DOCUMENT_UPDATE,
)
DOCUMENT_DISABLE: Final = _write(
    "knowledge_document_disable",
    "POST",
    f"{_ONE_DOCUMENT}:disable",
    200,
    DocumentLockRequest,
    Document,
    Action.DOCUMENT_UPDATE,
)
DOCUMENT_REINDEX: Final = _write(
    "knowledge_document_reindex",
    "POST",
    f"{_ONE_DOCUMENT}:reindex",
    202,
    DocumentLockRequest,
    DocumentOperationAccepted,
    Action.DOCUMENT_REINDEX,
)
OPERATION_CANCEL: Final = _write(
    "knowledge_operation_cancel",
    "POST",
    f"{_ONE_OPERATION}:cancel",
    200,
    OperationReasonRequest,
    Operation,
    Action.ORIGINAL_OPERATION_PERMISSION,
)
OPERATION_RETRY: Final = _write(
    "knowledge_operation_retry",
    "POST",
    f"{_ONE_OPERATION}:retry",
    202,
    OperationReasonRequest,
    ManualRetryAccepted,
    Action.ORIGINAL_OPERATION_PERMISSION,
    Action.OPERATION_RETRY,
)
SPACE_CREATE: Final = _write(
    "knowledge_space_create",
    "POST",
    "/spaces",
    201,
    SpaceCreateRequest,
    SpaceCreated,
    Action.SPACE_CREATE,
    toolset=_ADMIN,
)
SPACE_UPDATE: Final = _write(
    "knowledge_space_update",
    "PATCH",
    _ONE_SPACE,
    200,
    SpaceUpdateRequest,
    SpaceUpdated,
    Action.SPACE_UPDATE,
    toolset=_ADMIN,
)
SPACE_DELETE: Final = _write(
    "knowledge_space_delete",
    "POST",
    f"{_ONE_SPACE}:delete",
    202,
    SpaceDeleteRequest,
    SpaceOperationAccepted,
    Action.SPACE_DELETE,
    toolset=_ADMIN,
)
DOCUMENT_DELETE: Final = _write(
    "knowledge_document_delete",
    "POST",
    f"{_ONE_DOCUMENT}:delete",
    202,
    DocumentDeleteRequest,
    DocumentOperationAccepted,
    Action.DOCUMENT_DELETE,
    toolset=_ADMIN,
)

ROUTES: Final = (
    SPACE_LIST,
    SPACE_GET,
    DOCUMENT_LIST,
    DOCUMENT_GET,
    SEARCH,
    SOURCE_READ,
    OPERATION_GET,
    DOCUMENT_DOWNLOAD,
    DOCUMENT_UPLOAD,
    DOCUMENT_UPDATE,
    DOCUMENT_REPLACE,
    DOCUMENT_ENABLE,
    DOCUMENT_DISABLE,
    DOCUMENT_REINDEX,
    OPERATION_CANCEL,
    OPERATION_RETRY,
    SPACE_CREATE,
    SPACE_UPDATE,
    SPACE_DELETE,
    DOCUMENT_DELETE,
)

ROUTES_BY_TOOL: Final = MappingProxyType({route.tool: route for route in ROUTES})
